"""gpudoctor.toml: what a project asks of its machines, read, judged by and written."""
