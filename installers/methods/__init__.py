"""One installation method a file, whose name holds the products that it serves. See CONTRIBUTING.md."""
