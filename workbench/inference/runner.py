"""The command line of an export: predict.py PICTURES... and its self-test."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .batch import predict_to_folder
from .checks import verify_checks
from .engines import EngineError
from .golden import self_test
from .naming import collect_pictures
from .predictor import Predictor, Result
from .settings import SettingsError


class _Refused(Exception):
    """Why the run does not take place or was given up, as a sentence."""


def main(argv: Sequence[str], folder: Path | str) -> int:
    """Run the export in `folder`. Returns the exit status: 0 done, 1 a problem, told in one sentence on
    stderr.

    Wrong use ends the process with status 2, by argparse.
    """
    options = _parse(argv)
    try:
        report = _run(options, Path(folder))
    except (SettingsError, EngineError, _Refused) as error:
        return _fail(str(error), options)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"{named}{error.strerror or error}.", options)
    except KeyboardInterrupt:
        return _fail("Stopped. What was finished is in the folder of results.", options)
    if options.json:
        _out(json.dumps(report))
    return 0


def _run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if not options.skip_self_test:
        # Before the network is loaded: a damaged file is better named than described by what a library says
        # of it.
        _refuse_if(verify_checks(folder))
    predictor = Predictor.open(folder, engine=options.engine, threads=options.threads)
    if not options.skip_self_test:
        _refuse_if(self_test(folder, predictor, quick=not options.self_test))
    if options.self_test:
        report["self_test"] = "passed"
        _say("Self-test passed: this export gives what was seen when it was written.", options)
    if not options.pictures:
        return report
    sources, skipped = collect_pictures(options.pictures, leave_out=options.out)
    for entry in skipped:
        _note(f"{entry.path}: skipped, {entry.why}")
    if not sources:
        raise _Refused(f"There is nothing to do: {skipped[0].path}: {skipped[0].why}.")
    progress = _Progress()
    found = predict_to_folder(
        predictor,
        sources,
        options.out,
        skipped=skipped,
        overlays=not options.no_overlays,
        on_picture=progress.picture,
        on_tile=progress.tile,
    )
    if not found["pictures"]:
        raise _Refused(f"None of the pictures could be read: {found['skipped'][-1]['why']}.")
    left_out = f", {len(found['skipped'])} skipped" if found["skipped"] else ""
    _say(f"{len(found['pictures'])} pictures{left_out}; results in {options.out}", options)
    return {**report, **found}


def _refuse_if(problems: list[str]) -> None:
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise _Refused(f"This export does not give what it was exported with: {problems[0]}{more}")


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="predict.py", description="Find defects in pictures: masks, overlays and tables of regions."
    )
    parser.add_argument("pictures", nargs="*", metavar="PICTURES", help="files, folders or patterns")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of results (results)")
    parser.add_argument("--engine", choices=("auto", "onnx", "paddle"), default="auto")
    parser.add_argument("--threads", type=_count, default=None, metavar="N", help="0 for all")
    parser.add_argument("--no-overlays", action="store_true", help="write masks and tables only")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    test = parser.add_mutually_exclusive_group()
    test.add_argument("--self-test", action="store_true", help="check every golden picture")
    test.add_argument("--skip-self-test", action="store_true", help="check none, and no file either")
    options = parser.parse_args(argv)
    if not options.pictures and not options.self_test:
        parser.error("name at least one picture, folder or pattern")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


class _Progress:
    """One line on stderr for each picture, and on a terminal the share of the tiles of the one in work."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def tile(self, done: int, total: int) -> None:
        if self._live and total > 1:
            sys.stderr.write(f"\r{100 * done // total:3d} % " if done < total else "\r      \r")
            sys.stderr.flush()

    def picture(self, number: int, total: int, path: str, result: Result | None, why: str) -> None:
        if result is None:
            _note(f"[{number}/{total}] {path}: skipped, {why}")
        else:
            found = result.verdict or f"{len(result.regions)} regions"
            _note(f"[{number}/{total}] {path}: {found}, {result.milliseconds:.0f} ms")


def _fail(sentence: str, options: argparse.Namespace) -> int:
    _note(sentence)
    if options.json:
        _out(json.dumps({"error": sentence}))
    return 1


def _say(sentence: str, options: argparse.Namespace) -> None:
    (_note if options.json else _out)(sentence)


def _note(sentence: str) -> None:
    _write(sys.stderr, sentence)


def _out(sentence: str) -> None:
    _write(sys.stdout, sentence)


def _write(stream: Any, sentence: str) -> None:
    # A console may know fewer characters than a file name has.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(sentence.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
