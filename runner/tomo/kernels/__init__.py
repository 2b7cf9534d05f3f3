"""Compiled functions: how they are made (`kernel`), where they are kept (`cache`), who waits (`compiled`)."""
