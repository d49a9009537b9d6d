"""Text for a terminal or a file."""
