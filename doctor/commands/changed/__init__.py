"""`gpudoctor changed`: what changed on this machine that can matter for its GPU stack."""
