"""One family of messages a file; its module holds `FAMILY`. See CONTRIBUTING.md, "A signature"."""
