"""Find the newest set of builds that works together, or the proof that no set exists."""
