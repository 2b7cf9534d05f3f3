"""The built-in jobs and tools, thin: the only place that sees both the launcher and the tomography."""
