"""What everything else stands on; it imports nothing of ours."""
