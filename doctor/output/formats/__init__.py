"""One output format a file, for every command that reports."""
