"""One dump of an environment a file, each with a `DUMP`: what programs print when they are asked what they run on."""
