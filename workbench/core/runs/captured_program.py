"""Short programs that run to their end while their output is captured."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_POLL = 0.05  # seconds between checks whether the program has ended


@dataclass(frozen=True)
class ChildOutput:
    """Result of `run_captured`. returncode: None if the program was killed at the time limit."""

    returncode: int | None
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        """Last line of the error output, or of the output if there is no error output; may be empty."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return lines[-1] if lines else ""


def run_captured(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    tick: Callable[[], None] = lambda: None,
) -> ChildOutput:
    """Run a program without input to its end.

    seconds: time limit, after which the program and its descendants are killed. folder: working directory.
    tick: called 20 times per second; may raise, which kills the program as well. Raises OSError if the program cannot
    be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
        )
        try:
            until = time.monotonic() + seconds
            while (code := process.poll()) is None and time.monotonic() < until:
                tick()
                time.sleep(_POLL)
        finally:
            if process.poll() is None:
                end_process(process.pid, kill=True)
            process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return ChildOutput(code, *texts)


def end_process(pid: int, *, kill: bool) -> None:
    """Terminate or kill a process and all its descendants."""
    import psutil

    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [*parent.children(recursive=True), parent]:
            with contextlib.suppress(psutil.Error):
                process.kill() if kill else process.terminate()
