"""From needs to remedies."""
