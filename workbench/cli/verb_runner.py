"""Common parts of all verbs: results on stdout, progress and remarks on stderr, problems as one sentence."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from workbench.core.problems import NotAProject, NotEnoughMemory, Problem, UntrustedPlaces
from workbench.core.project.project import Project
from workbench.core.project.sources import shared_sources, trust_named
from workbench.inference.engines import EngineError
from workbench.inference.io.file_access import path_problem
from workbench.inference.io.image_io import ReadError
from workbench.inference.model_settings import SettingsError
from workbench.inference.text_safety import terminal_text

STOPPING = "Stopping after this image. Press Ctrl+C again to stop immediately."


class StoppedEarly(Problem):
    message = "Stopped. {done} of {total} images are done. Their results are in {path}."
    advice = "Run the command again with --continue for the remaining images."


class PathRefused(Problem):
    message = "{path} cannot be used: {why}."
    advice = "Nothing was written. Choose another name."


class WrongUse(Exception):
    """Invalid combination of options that the parser cannot detect. The message is a part of a sentence."""


class Console:
    """Output of a verb: `line` prints the result on stdout, `note` and `progress` write to stderr."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def line(self, text: str = "") -> None:
        """Print a line of the result. With --json nothing is printed, since the object holds the same content."""
        if not self.as_json:
            print(terminal_text(text), flush=True)

    def note(self, text: str) -> None:
        """Write a remark to stderr, on a terminal above a running progress bar."""
        if sys.stderr.isatty():
            tqdm.write(terminal_text(text), file=sys.stderr)
        else:
            print(terminal_text(text), file=sys.stderr)
        sys.stderr.flush()

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show a progress bar on stderr. The yielded function takes (done, total)."""
        with progress_bar(what, total=None, unit="") as bar:

            def move(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield move


def progress_bar(what: str, **options: Any) -> tqdm:
    """Return a progress bar on stderr, updated every 0.2 s on a terminal and every 20 s in a log."""
    live = sys.stderr.isatty()
    return tqdm(
        desc=terminal_text(what),
        file=sys.stderr,
        leave=False,
        dynamic_ncols=live,
        mininterval=0.2 if live else 20,
        delay=0.5 if live else 5,
        **options,
    )


def run_verb(options: argparse.Namespace) -> int:
    """Run the parsed verb. Return its exit status, which a verb may set by the key "exit" of its result."""
    for stream in (sys.stdout, sys.stderr):
        # The console's encoding may lack characters of a file name.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    console = Console(options.json)
    try:
        result = _result(options, console)
    except WrongUse as wrong:
        print(terminal_text(f"workbench {options.verb}: error: {wrong}"), file=sys.stderr)
        if options.json:
            print(json.dumps({"error": f"Invalid arguments: {wrong}."}))
        return 2
    except (Problem, SettingsError, EngineError, ReadError) as problem:
        return _fail(str(problem), options)
    except KeyboardInterrupt:
        return _fail("Stopped.", options)
    except MemoryError:
        return _fail(str(NotEnoughMemory()), options)
    except BrokenPipeError:
        raise  # handled by cli.main
    except Exception as error:
        message = (str(error).strip().splitlines() or [""])[0]
        return _fail(
            f"Unexpected error: {type(error).__name__}: {message}. Run the command again with --debug and report it.",
            options,
        )
    status = result.pop("exit", 0)
    if options.json:
        print(json.dumps(plain(result), allow_nan=False), flush=True)
    return status


def _result(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Return the result of the verb. With --trust-sources it begins again after each refusal for untrusted places."""
    for value in vars(options).values():
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path) and sys.platform == "win32" and (why := path_problem(path)):
                raise PathRefused(path=str(path), why=why)
    while True:
        try:
            if getattr(options, "project", None) is not None and "identity" in options:
                identify(options.project, options, console)
            return options.run(options, console)
        except UntrustedPlaces as problem:
            if not options.trust_sources:
                raise
            trust_named(problem)


def identify(root: Path, options: argparse.Namespace, console: Console) -> None:
    """Decide whether a project is a copy, and tell that it was moved or repaired, before the verb opens it."""
    try:
        with Project.open(root, write=False) as project:
            pending = project.identity.moved_from or shared_sources(root, project.file.sources)
    except NotAProject:
        return  # reported by the verb, unless its arguments are wrong
    if pending or options.identity is not None:
        with Project.open(root, identity=options.identity) as project:
            for notice in project.json.take_notices():
                console.note(str(notice))
    options.identity = None  # decided, also if the verb begins again


def _fail(sentence: str, options: argparse.Namespace) -> int:
    if options.debug:
        print(terminal_text(traceback.format_exc(), block=True), file=sys.stderr)
    print(terminal_text(sentence), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"error": sentence}), flush=True)
    return 1


def plain(value: Any) -> Any:
    """Convert to JSON types: paths with slashes, NumPy numbers as numbers, null for NaN and infinities."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def percent(share: float | None, interval: list[float] | None = None) -> str:
    """Format a share as "73.1%", with its 95% interval if given; "-" for None."""
    if share is None:
        return "-"
    if interval is None:
        return f"{100 * share:.1f}%"
    return f"{100 * share:.1f}% ({100 * interval[0]:.0f} to {100 * interval[1]:.0f}%)"


def number_in(low: float, high: float = 1e9, kind: type = int, *, above: bool = False) -> Callable[[str], Any]:
    """Return the type of an option that is a number from `low` to `high`. above: `low` itself is refused."""

    def read(text: str) -> Any:
        value = kind(text)
        if not low <= value <= high or (above and value == low):
            most = f" and at most {high:g}" if high < 1e9 else ""
            raise argparse.ArgumentTypeError(f"must be {'above' if above else 'at least'} {low:g}{most}, not {text}")
        return value

    read.__name__ = "whole number" if kind is int else "number"  # argparse names it
    return read


def add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="project folder")
