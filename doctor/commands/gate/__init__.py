"""`gpudoctor gate`: one verdict for schedulers, fail-closed."""
