"""Messages as rows: one family of messages a file. See CONTRIBUTING.md, "A signature"."""
