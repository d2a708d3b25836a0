"""Commands to a running training: from the launching process through stdin, from a later one through a file."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from types import FrameType

from workbench.core.runs.events import decode_command

_POLL_SECONDS = 0.4
EXIT_SECONDS = 120.0  # seconds to save and exit
MAX_EXPECTED = 5


class ControlChannel:
    """Commands, read by threads of this class and polled by the training between steps.

    path: RUN/orders.jsonl; lines written before the start are ignored. keep_running: continue when the pipe is closed.
    in_group: one of several processes. No signal ends it at once, as a launcher sends three of them in half a second.
    """

    def __init__(self, path: Path | None, *, keep_running: bool = False, in_group: bool = False) -> None:
        self._in_group = in_group
        self._stop = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._keep_running = keep_running
        self._lock = threading.Lock()
        self._changed: list[str] = []
        self.watched: str | None = None
        self.expected: tuple[str, ...] = ()  # images that will be watched next
        self.keep_open = False  # continue when the time is up
        self._path = path
        self._position = path.stat().st_size if path is not None and path.exists() else 0

    def listen(self) -> None:
        """Start the reading threads. Main thread only."""
        self.install_signal_handlers()
        threading.Thread(target=self.read_pipe, daemon=True, name="commands").start()
        if self._path is not None:
            threading.Thread(target=self._follow_file, daemon=True, name="command-file").start()

    def install_signal_handlers(self) -> None:
        """Turn interrupt and termination signals into a request to stop. Main thread only."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError, OSError):
                signal.signal(number, self._on_signal)

    @property
    def stop(self) -> bool:
        return self._stop.is_set()

    @property
    def paused(self) -> bool:
        return not self._running.is_set() and not self.stop

    def wait_until_resumed(self, seconds: float) -> None:
        self._running.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Sleep for at most `seconds` seconds; return early on a request to stop."""
        self._stop.wait(seconds)

    def take_changed(self) -> list[str]:
        """Return the images whose labels were changed since the last call."""
        with self._lock:
            changed, self._changed = self._changed, []
        return changed

    def apply(self, line: str) -> None:
        """Execute one line; ignore anything that is not a command."""
        command, image = decode_command(line) or ("", None)
        if command == "stop":
            self._stop.set()
            self._running.set()
        elif command == "pause":
            self._running.clear()
        elif command == "resume":
            self._running.set()
        elif command == "watch":
            self.watched, self.expected = image, ()
        elif command == "expect" and image and len(self.expected) < MAX_EXPECTED:
            self.expected += (image,)
        elif command in ("keep_open", "let_end"):
            self.keep_open = command == "keep_open"
        elif command == "keep_running":
            self._keep_running = True
        elif command == "labels_changed" and image:
            with self._lock:
                self._changed.append(image)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stop.is_set() and not self._in_group:  # second request
            signal.default_int_handler(number, frame)
        self._stop.set()
        self._running.set()

    def read_pipe(self) -> None:
        """Read commands from stdin until it is closed."""
        remainder = b""
        while True:
            try:
                data = os.read(0, 65536)
            except OSError:
                return  # no stdin, as in a program without a console
            if not data:
                break
            *lines, remainder = (remainder + data).split(b"\n")
            for line in lines:
                self.apply(line.decode("utf-8", "replace"))
        if not self._keep_running:
            self._stop.set()
            self._running.set()
            if self._in_group:
                self._exit_later()

    def _exit_later(self) -> None:
        """End the process: it may be blocked in a message to another process, and no parent is left to end it."""
        time.sleep(EXIT_SECONDS)
        os._exit(1)

    def _follow_file(self) -> None:
        assert self._path is not None
        while True:
            time.sleep(_POLL_SECONDS)
            with contextlib.suppress(OSError), self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._position if size >= self._position else 0)
                data = file.read()
                complete_lines = data[: data.rfind(b"\n") + 1]
                self._position = file.tell() - len(data) + len(complete_lines)
                for line in complete_lines.splitlines():
                    self.apply(line.decode("utf-8", "replace"))
