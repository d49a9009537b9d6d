"""One dialect a file; its module holds `DIALECT`."""
