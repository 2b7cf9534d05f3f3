"""Chains: work that is longer than a walltime, in several jobs that run the same script one after the other.

Each part starts when the one before it has ended, however it did. The first part that comes to an end of its
own (all is done, or an error that trying again does not mend) leaves its exit code in a file; those behind it
find the file and end with that code at once. A part that the time was over for (75), that lost what it could
not do without (69, 70) or that a signal ended leaves nothing, and the next one goes on where it stopped.
"""

from __future__ import annotations

import shlex
from pathlib import Path

_BEGIN = """
# A part of a chain. A part that came to its own end left its exit code in this file, and nothing to do.
ended=MARK
if [ -e "$ended" ]; then
    echo "runner: an earlier part of this chain ended with exit code $(cat "$ended"): nothing is left to do"
    exit "$(cat "$ended")"
fi
part() { # in the background: a process of its own, which exec replaces
"""
_END = """
}
told=
trap 'told=yes; kill -TERM "$!" 2> /dev/null' TERM INT HUP
part &
[ -z "$told" ] || kill -TERM "$!" # told before there was a part
until # a signal ends the wait, not the part
    wait "$!"
    code=$?
    ! kill -0 "$!" 2> /dev/null
do :; done
case $code in
69 | 70 | 75) ;; # worth another try: see the exit codes of the runner
*) if [ "$code" -lt 128 ]; then echo "$code" > "$ended"; fi ;;
esac
exit "$code"
"""


def as_part(script: str, mark: Path) -> str:
    """Make a job script a part of a chain.

    Parameters
    ----------
    script : str
        As from :func:`runner.batch.script.render`; its directives end with the first empty line.
    mark : Path
        The file for the exit code; all parts see it.
    """
    directives, _, body = script.partition("\n\n")
    begin = _BEGIN.replace("MARK", shlex.quote(str(mark)))
    return f"{directives}\n{begin}{body.rstrip()}{_END}"
