"""Lock files, checked for a platform before anything is installed."""
