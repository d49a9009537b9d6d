"""Values that cross the rooms: facts, answers, the report, and their JSON."""
