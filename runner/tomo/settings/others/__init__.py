"""Files of settings of other programs, read where they mean the same here."""
