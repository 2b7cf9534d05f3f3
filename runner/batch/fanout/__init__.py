"""Ranks started one by one over something like ``ssh``, where no launcher does it."""
