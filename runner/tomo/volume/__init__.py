"""The result: one file, written by many processes at once, and verified."""
