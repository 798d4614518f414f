"""The intermediate representation: structured SSA with nested blocks.  `node` holds the grammar."""
