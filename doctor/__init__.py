"""What is true on this machine, what is wrong with it, and the command line."""

__version__ = "0.1.0"
DISTRIBUTION = "gpudoctor"  # the entry point tells by it that no other distribution overwrote this file
