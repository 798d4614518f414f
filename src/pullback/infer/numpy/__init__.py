"""The NumPy and SciPy surface: what calls of its functions, methods and attributes mean to inference."""
