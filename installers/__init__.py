"""How to change a machine: plans that are data, and the methods that write them."""

DISTRIBUTION = "gpudoctor"  # the entry point tells by it that no other distribution overwrote this file
