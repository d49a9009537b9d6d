"""What each command does, apart from reading its command line and printing."""
