"""Command line of an export: predict.py IMAGES..., including its self-test."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..cpu_environment import keep_freed_memory
from ..engines import NAMES, EngineError
from ..io import file_access
from ..model_settings import SettingsError
from ..predictor import Prediction, Predictor
from ..text_safety import terminal_text
from ..verdict_rule import result_text
from .export_package import self_test, verify_checks
from .folder_watch import watch
from .input_paths import collect_images
from .interrupts import exit_on_broken_pipe, handle_interrupts
from .results_folder import KEEP_VERDICTS, ResultsFolder, new_remarks, predict_all, unlike_summary
from .results_log import ResultsLogError, model_fingerprint


class _Parser(argparse.ArgumentParser):
    """Argument parser whose error messages are escaped for the terminal, because arguments may be file names."""

    def error(self, message: str) -> NoReturn:
        super().error(terminal_text(message))


class _UsageError(Exception):
    """Run that does not start or was stopped; the text is the reason, as a sentence."""


def main(argv: Sequence[str], folder: Path | str) -> int:
    """Run the export in `folder`. Return the exit status: 0, or 1 after a problem, reported in one sentence on stderr.

    Invalid arguments end the process with status 2, by argparse.
    """
    return exit_on_broken_pipe(lambda: _main(argv, folder), as_json="--json" in argv)


def _main(argv: Sequence[str], folder: Path | str) -> int:
    options = _parse(argv)
    keep_freed_memory()
    try:
        report = _run(options, Path(folder))
    except (SettingsError, EngineError, ResultsLogError, _UsageError) as error:
        return _fail(str(error), options)
    except BrokenPipeError:
        raise
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename else ""
        return _fail(f"{prefix}{file_access.reason(error)}.", options)
    except KeyboardInterrupt:
        return _fail("Stopped. What was finished is in the folder of results.", options)
    if options.json:
        _out(json.dumps(report))
    return 0


def _run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if not options.skip_self_test:
        # Checked before loading the network, because the name of a damaged file is clearer than a library's error
        # message.
        _raise_first(verify_checks(folder))
    predictor = Predictor.open(folder, engine=options.engine, threads=options.threads)
    if not options.skip_self_test:
        _raise_first(self_test(folder, predictor, quick=not options.self_test))
    if options.self_test:
        report["self_test"] = "passed"
        _print("Self-test passed: this export reproduces its reference results.", options)
    if not options.pictures:
        return report
    if options.keep_verdicts:
        predictor.keep_verdicts()
    fingerprint = model_fingerprint(folder)
    if options.watch:
        return {**report, **_watch(options, predictor, fingerprint)}
    return {**report, **_batch(options, predictor, fingerprint)}


def _batch(options: argparse.Namespace, predictor: Predictor, fingerprint: str) -> dict[str, Any]:
    sources, skipped = collect_images(options.pictures, leave_out=options.out)
    for entry in skipped:
        _note(f"{entry.path}: skipped, {entry.why}")
    if not sources:
        raise _UsageError(f"There is nothing to do: {skipped[0].path}: {skipped[0].why}.")
    progress = _Progress()
    with (
        handle_interrupts(lambda: _note("Stopping after this image; press again to stop at once.")) as stop,
        ResultsFolder(
            options.out,
            predictor,
            fingerprint=fingerprint,
            resume=options.resume,
            overlays=not options.no_overlays,
            skipped=skipped,
        ) as folder,
    ):
        _warn(folder)
        complete = predict_all(
            folder, sources, on_image=progress.image, on_tile=progress.tile, stop=stop.requested, cancelled=stop.at_once
        )
        report, summary = folder.report(), folder.summary()
    if not complete:
        done = f"{len(report['pictures'])} of {_images(len(sources))} done; results in {options.out}"
        raise _UsageError(f"Stopped. {done}. Run it again with --continue for the others.")
    if not report["pictures"]:
        raise _UsageError(f"None of the images has a result: {report['skipped'][-1]['why']}.")
    unlike = unlike_summary(report["pictures"])
    if unlike:
        _note(unlike)
    left_out = f", {len(report['skipped'])} skipped" if report["skipped"] else ""
    _print(f"{summary}; {_images(len(report['pictures']))}{left_out}; results in {options.out}", options)
    return report


def _watch(options: argparse.Namespace, predictor: Predictor, fingerprint: str) -> dict[str, Any]:
    count = {"pictures": 0, "skipped": 0}
    reported: set[str] = set()

    def on_image(path: str, result: Prediction | None, why: str) -> None:
        count["skipped" if result is None else "pictures"] += 1
        _note_image(_result_line(path, result, why), result, reported)
        if options.json:
            _out(json.dumps({"path": Path(path).as_posix(), **({"why": why} if result is None else result.to_json())}))

    with (
        handle_interrupts(lambda: _note("Stopping after this image; press again to stop at once.")) as stop,
        ResultsFolder(
            options.out, predictor, fingerprint=fingerprint, resume=True, overlays=not options.no_overlays, live=True
        ) as folder,
    ):
        _warn(folder)
        _note(f"Waiting for images in {', '.join(options.pictures)}; results go to {options.out}. Ctrl-C stops.")
        watch(folder, options.pictures, stop, on_image=on_image)
    _print(f"Stopped. {_images(count['pictures'])}, {count['skipped']} skipped; results in {options.out}", options)
    return {"stopped": True, **count}


def _images(number: int) -> str:
    return f"{number} image" if number == 1 else f"{number} images"


def _warn(folder: ResultsFolder) -> None:
    for remark in folder.remarks:
        _note(remark)


def _raise_first(problems: list[str]) -> None:
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise _UsageError(f"This export does not give what it was exported with: {problems[0]}{more}")


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog="predict.py", description="Find defects in images: masks, overlays and tables of regions.")
    parser.add_argument("pictures", nargs="*", metavar="IMAGES", help="files, folders or patterns")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of results (results)")
    parser.add_argument("--engine", choices=("auto", *NAMES), default="auto")
    parser.add_argument(
        "--threads", type=_count, default=None, metavar="N", help="number of CPU threads (0 = all cores)"
    )
    parser.add_argument("--no-overlays", action="store_true", help="write masks and tables only")
    parser.add_argument("--keep-verdicts", action="store_true", help=KEEP_VERDICTS)
    resume_group = parser.add_mutually_exclusive_group()
    resume_help = "skip images that already have results"
    resume_group.add_argument("--continue", dest="resume", action="store_true", help=resume_help)
    resume_group.add_argument(
        "--watch", action="store_true", help="wait for further images until Ctrl-C; continue earlier results"
    )
    help = "print the results as one JSON object; with --watch one object per image and line, and one at the end"
    parser.add_argument("--json", action="store_true", help=help)
    test_group = parser.add_mutually_exclusive_group()
    test_group.add_argument("--self-test", action="store_true", help="check every reference image")
    test_group.add_argument("--skip-self-test", action="store_true", help="skip all checks of the files and results")
    options = parser.parse_args(argv)
    if not options.pictures and not options.self_test:
        parser.error("name at least one image, folder or pattern")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


_COLUMNS = 72


class _Progress:
    """Progress display: a bar with the remaining time on a terminal, one line per image otherwise."""

    _WIDTH = 24

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._started = time.monotonic()
        self._number = self._total = self._first = 0
        self._last_drawn = 0.0
        self._reported: set[str] = set()

    def tile(self, done: int, total: int) -> None:
        if self._is_terminal and total > 1 and time.monotonic() - self._last_drawn > 0.2:
            self._draw(done / total if done < total else 0.0)

    def image(self, number: int, total: int, path: str, result: Prediction | None, why: str) -> None:
        line = f"[{number}/{total}] {_result_line(path, result, why)}"
        if not self._is_terminal:
            _note_image(line, result, self._reported)
            return
        self._first = self._first or number  # earlier images were done in a previous run
        self._number, self._total = number, total
        if result is None:
            sys.stderr.write("\r")  # overwrite the bar
            _note(line.ljust(_COLUMNS))
        self._draw(0.0)
        if number == total:
            _write(sys.stderr, "")

    def _draw(self, share: float) -> None:
        self._last_drawn = time.monotonic()
        if not self._total:
            line = f" first image {share:4.0%}"
        else:
            filled = round(self._WIDTH * self._number / self._total)
            done = self._number - self._first + 1
            remaining = (self._last_drawn - self._started) / done * (self._total - self._number)
            bar = "#" * filled + "." * (self._WIDTH - filled)
            line = f" [{bar}] {self._number}/{self._total}, {_duration(remaining)} left"
        sys.stderr.write("\r" + line.ljust(_COLUMNS))
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    minutes, remainder = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{remainder:02}" if minutes >= 60 else f"{minutes}:{remainder:02}"


def _result_line(path: str, result: Prediction | None, why: str) -> str:
    if result is None:
        return f"{path}: skipped, {why}"
    return f"{path}: {result_text(result.to_json())}, {result.milliseconds:.0f} ms"


def _note_image(line: str, result: Prediction | None, reported: set[str]) -> None:
    _note(line)
    for remark in new_remarks(result, reported) if result else ():
        _note(remark)


def _fail(sentence: str, options: argparse.Namespace) -> int:
    _note(sentence)
    if options.json:
        _out(json.dumps({"error": sentence}))
    return 1


def _print(sentence: str, options: argparse.Namespace) -> None:
    (_note if options.json else _out)(sentence)


def _note(sentence: str) -> None:
    _write(sys.stderr, sentence)


def _out(sentence: str) -> None:
    _write(sys.stdout, sentence)


def _write(stream: Any, sentence: str) -> None:
    if stream is None:  # a program without a console that calls `main` itself
        return
    sentence = terminal_text(sentence)
    # The console's encoding may lack characters of a file name.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(sentence.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
