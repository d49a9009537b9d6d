"""One installation method a file. See CONTRIBUTING.md, "A need and its installation method".

The name of the file holds the products of the needs that it serves; a method that only a person chooses has no product
in its name.
"""
