"""The command line: `python -m strongroom`, and the script `strongroom`."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from . import _native


def _program() -> str | None:
    """The script that runs this command again, for the settings of agents."""
    script = os.path.join(sysconfig.get_path("scripts"), "strongroom.exe" if os.name == "nt" else "strongroom")
    return script if os.path.exists(script) else None


def main() -> int:
    """Runs the words that were typed, and returns the exit code: 0 done, 1 an honest no, 2 usage, 3 unavailable."""
    # The work is done outside the interpreter, which would notice an interrupt only when it is over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run(["strongroom", *sys.argv[1:]], _program())


if __name__ == "__main__":
    sys.exit(main())
