"""The probes that need nothing but a host: a file each has the type of its facts, and `PROBE`."""
