"""What an installation command would change, and what would break."""
