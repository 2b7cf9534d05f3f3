"""The ranks of one batch job become a cluster, run one program, and are gone with its exit code.

Read :mod:`runner.launcher.launch` first: it is the table of contents.
"""
