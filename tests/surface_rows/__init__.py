"""Families of rows, one module each with a list ROWS; see `surface.Row`."""
