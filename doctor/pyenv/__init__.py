"""Python environments, read from disk: interpreters, prefixes, sites, distributions."""
