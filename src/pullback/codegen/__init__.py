"""Code generation: the typed IR to LLVM IR text, native objects and callable Python objects."""
