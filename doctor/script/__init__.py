"""Read Dockerfiles and shell commands as text, without running anything."""
