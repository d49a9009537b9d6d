"""One kind of step a file."""
