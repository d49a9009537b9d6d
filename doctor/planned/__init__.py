"""Facts of what is not installed yet: a build, a driver or GPUs that a user names."""
