"""`gpudoctor explain`: from a message to its cause. Text -> reading -> matches -> causes -> document."""
