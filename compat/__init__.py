"""What is true in general about the CUDA stack: sourced rows and the questions they answer."""

DISTRIBUTION = "gpudoctor"  # the entry point tells by it that no other distribution overwrote this file
