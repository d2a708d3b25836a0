"""Pipes of the training program: events, one per line, to stdout and to events.jsonl, and commands to it.

The last event is Finished, or Failed with the cause. Commands come from the launching process through stdin, from a
later one through a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Literal

from workbench.core.messages import Message
from workbench.core.problems import PaddleMissing, Problem, RunInUse, WorkerFailed
from workbench.core.runs import child_process
from workbench.core.runs.events import Event, Trouble, decode_command, encode
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.inference.io.file_access import discard_tree, open_file

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


# --- events ---------------------------------------------------------------------------------------


LAUNCHER_FOLDER = "workbench-launcher-"


def awake_time() -> float:
    """Return the seconds of a clock that stands still while the computer sleeps, from an arbitrary start.

    On Windows, `time.perf_counter` and `time.monotonic` count the sleep.
    """
    if sys.platform == "win32":
        ticks = ctypes.c_ulonglong()  # of 100 ns
        ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks))
        return ticks.value / 1e7
    return time.perf_counter()


def _asleep_time() -> float:
    """Return the seconds that the computer has slept, from an arbitrary start; 0 if the system does not count them."""
    if sys.platform == "win32":  # of the same clock: `time.perf_counter` drifts against it
        milliseconds = ctypes.windll.kernel32.GetTickCount64
        milliseconds.restype = ctypes.c_ulonglong
        return milliseconds() / 1000 - awake_time()
    linux = getattr(time, "CLOCK_BOOTTIME", None)
    return 0.0 if linux is None else time.clock_gettime(linux) - awake_time()


class Clock:
    """Duration of a run in seconds: over all its sessions, without pauses, the sleep of the computer, and times in
    which this process was stopped, such as those of a frozen virtual machine.

    started: of `awake_time`; now by default.
    """

    BEAT, STANDSTILL = 0.5, 5.0  # seconds; a process without a beat for so long was stopped, if it computed nothing
    _COMPUTING = 0.1  # share of the time; library calls that prevent beats compute

    def __init__(self, started: float | None = None) -> None:
        self._started = awake_time() if started is None else started
        self._earlier = 0.0
        self._paused = 0.0
        self._beat: tuple[float, float] | None = None  # time and processor time of the last beat
        self._mutex = threading.Lock()
        self._asleep = _asleep_time()

    def slept_minutes(self) -> int:
        """Return for how many minutes the computer has slept since the last call that returned some, 0 for none."""
        with self._mutex:
            minutes = int((_asleep_time() - self._asleep) / 60)
            self._asleep += 60 * minutes
            return minutes

    def notice_stops(self) -> None:
        """Exclude, from now on, the times in which this process is stopped."""
        self._beat = awake_time(), time.process_time()
        threading.Thread(target=self._keep_beating, daemon=True).start()

    def _keep_beating(self) -> None:
        while True:
            time.sleep(self.BEAT)
            self._take_beat()

    def _take_beat(self) -> None:
        with self._mutex:
            if self._beat is None:
                return
            previous, self._beat = self._beat, (awake_time(), time.process_time())
            passed, computed = (now - before for now, before in zip(self._beat, previous, strict=True))
            if passed > self.STANDSTILL and computed < self._COMPUTING * passed:
                self._paused += passed

    @property
    def elapsed(self) -> float:
        self._take_beat()
        return self._earlier + awake_time() - self._started - self._paused

    def continue_from(self, earlier: float) -> None:
        """Continue a run that has already taken `earlier` seconds in previous sessions."""
        self._earlier = earlier

    def exclude(self, seconds: float) -> None:
        with self._mutex:
            self._paused += seconds


class Reporter:
    """Writer of events, one complete line each. Never raises: a closed pipe must not end a training."""

    def __init__(self, pipe: int | None, clock: Clock, path: Path | None = None) -> None:
        self._pipe, self._clock, self._path = pipe, clock, path
        self._lock = threading.Lock()
        self._at_line_start = False  # last line complete: a kill or a full disk may have truncated it

    def __call__(self, event: Event, *, keep: bool = True) -> None:
        """Report an event. keep: False to omit it from the file, which another process may be writing."""
        if minutes := self._clock.slept_minutes():
            slept = Message("training.slept", n=minutes)
            self(Trouble(what=slept, done=Message("training.sleep_not_counted")), keep=keep)
        event = dataclasses.replace(event, time=round(self._clock.elapsed, 3))
        # Names that are not UTF-8 contain lone surrogates, which are valid JSON as escapes.
        line = (encode(event) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            # File first: a reader of the pipe may look up the event there at once.
            if self._path is not None and keep:
                self._append(line)
            if self._pipe is not None and not write_all(self._pipe, line):
                self._pipe = None

    def _append(self, line: bytes) -> None:
        assert self._path is not None
        at_line_start, self._at_line_start = self._at_line_start, False
        with contextlib.suppress(OSError):
            with open_file(self._path, "ab+") as file:
                if not at_line_start and file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":
                        line = b"\n" + line
                file.write(line)
            self._at_line_start = True


def claim_stdout() -> int | None:
    """Return a descriptor for events, and redirect everything else printed to stdout to stderr.

    None if there is no stdout, as in a program without a console.
    """
    try:
        pipe = os.dup(1)
        os.set_inheritable(pipe, False)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    return pipe


def print_to(path: Path) -> None:
    """Redirect stdout and stderr of this process, including output of libraries, to a file."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        with path.open("ab", buffering=0) as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)


def forget_launcher() -> None:
    """Remove the folder where Paddle's launcher has written its whole environment, if this program created it."""
    folder = Path(os.environ.get("PADDLE_LOG_DIR", ""))
    if folder.name.startswith(LAUNCHER_FOLDER):
        discard_tree(folder)


def write_all(pipe: int, data: bytes) -> bool:
    """Write all data. Return False if the pipe is closed."""
    try:
        while data:
            data = data[os.write(pipe, data) :]
    except OSError:
        return False
    return True


def run_to_final_event(
    work: Callable[[], Event | int], report: Reporter, log: Path, what: Literal["training", "export"] = "training"
) -> int:
    """Run `work` so that the last event is always Finished or Failed. what: name of the process in its failure.

    work: returns the last event, or an exit status if that event was already reported.
    """
    try:
        ending = work()
        if isinstance(ending, int):
            return ending
        report(ending)
        return 0
    except Problem as problem:
        if isinstance(problem, WorkerFailed):
            _keep_traceback(log)
        report(child_process.from_problem(problem, log=log), keep=not isinstance(problem, RunInUse))
    except BaseException as error:
        _keep_traceback(log)
        report(child_process.failed_event(what, _cause(error), log))
    return 1


def _cause(error: BaseException) -> str:
    """Return the cause of an unexpected error, as a part of a sentence."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if "paddle" in sys.modules:
        from workbench.training.device import first_line, gpu_failure, is_out_of_memory

        if is_out_of_memory(error):
            return Message("exit.out_of_memory")
        if failure := gpu_failure(error):
            return failure
        line = first_line(error)
    return f"{type(error).__name__}: {line}"


def _keep_traceback(log: Path) -> None:
    traceback.print_exc()
    with contextlib.suppress(OSError):
        if log.parent.is_dir():
            with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{traceback.format_exc()}\n")


def need_paddle(channel: ControlChannel | None = None) -> None:
    """Import Paddle, without its signal handlers. Raises PaddleMissing."""
    try:
        import paddle
    except ImportError as error:
        print(error, file=sys.stderr)  # noqa: T201
        raise PaddleMissing(command=paddle_command_here()) from error
    # Paddle installs signal handlers that end the process with a report; here the state is saved first.
    paddle.disable_signal_handler()
    if channel is not None:
        channel.install_signal_handlers()
