"""Write the project requirements for a machine (gpudoctor.toml)."""
