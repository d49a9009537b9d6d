"""`gpudoctor diff`: two reports of one machine, or of two, and what differs between them."""
