"""Dockerfiles, judged without being built: what they say that an image will hold, as facts for the rules of `check`."""
