"""Nouns whose programs fail, with the reason; a test fails when one of them works, so the list shrinks."""

PENDING: dict[str, str] = {}
