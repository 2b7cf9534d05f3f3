"""What is raised where a value is asked for that is not there."""

from __future__ import annotations

from runner.errors import RunnerError


class ComponentFailed(RunnerError):  # noqa: N818  (it reads as what happened, as the documentation has it)
    """A component ended with an error, so that it has no value."""


class NotReady(RunnerError):  # noqa: N818
    """A component has not been done yet."""
