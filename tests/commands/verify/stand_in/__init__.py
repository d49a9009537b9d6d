"""What stands in for the packages beside gpudoctor on a machine without a GPU; a directory for sys.path."""
