"""Facts about typed functions, each computed in one place; what they are used for is not known here."""
