"""Rewrites of typed IR, one file each: `run(function, program)` changes the function in place.

Every pass may be left out and the program stays right; none makes code worse; all keep the user's spans.
"""
