"""`gpudoctor run`: a fast check, the command as if we were not there, and the explanation if it failed."""
