"""Cost of saving and undo: encoding a whole mask or one band, share of the GUI thread, memory of a thousand steps.

    python tests/benchmarks/saving.py [--sides 2048,8192] [--rounds 5] [--strokes 1000]

Times are medians of several rounds on one machine; only the ratios can be compared. "GUI thread" is the time that the
session's methods take in it. "Longest gap" is the longest interruption of a loop in the GUI thread while the worker
thread saves, in comparison with the same loop while nothing is saved.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from PySide6.QtCore import QCoreApplication

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workbench.core.geometry.drawing import Paint, Rect, draw_segment, segment_rect
from workbench.core.project import annotation
from workbench.core.project.history import StepRecording
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.label import IncrementalPng
from workbench.session.session import Session


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start_time = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start_time))
    return statistics.median(times)


def painted(side: int) -> np.ndarray:
    """Return a mask with strokes of five classes on about 4% of its pixels."""
    mask, rng = np.zeros((side, side), np.uint8), np.random.default_rng(0)
    for number in range(side * side // 120_000):
        start = rng.uniform(0, side, 2)
        draw_segment(mask, tuple(start), tuple(start + rng.normal(0, 80, 2)), rng.uniform(4, 40), Paint(1 + number % 5))
    return mask


def encoding(side: int, rounds: int) -> list[tuple[str, str]]:
    mask = painted(side)
    with tempfile.TemporaryDirectory() as folder, Project.create(folder, classes=list("abcde")) as project:
        classes = project.classes
        pillow = milliseconds(lambda: annotation.encode_mask(mask, classes), rounds)
        opencv = milliseconds(lambda: cv2.imencode(".png", mask), rounds)
        whole = milliseconds(lambda: IncrementalPng(classes).encode(mask), rounds)
        png = IncrementalPng(classes)
        size = len(png.encode(mask))
        spot = Rect(side // 2, side // 2 + 10, 40, 4)
        band = milliseconds(lambda: (png.encode(mask, [spot]), png.foreground_counts()), 3 * rounds)
    return [
        ("painted", f"{100 * np.count_nonzero(mask) / mask.size:.1f} %, file {size / 1000:.0f} kB"),
        ("whole encode, Pillow", f"{pillow:.1f} ms"),
        ("whole encode, OpenCV (no palette)", f"{opencv:.1f} ms"),
        ("whole encode, banded, with the counts", f"{whole:.1f} ms"),
        ("one spot changed, with the counts", f"{band:.2f} ms"),
        ("... against Pillow, against OpenCV", f"1/{pillow / band:.0f}, 1/{opencv / band:.0f}"),
    ]


class MethodTimer:
    """Total time that some methods of an object take in the calling thread."""

    def __init__(self, holder: object, *names: str) -> None:
        self.total = 0.0
        for name in names:
            setattr(holder, name, self._timed(getattr(holder, name)))

    def _timed(self, method: Callable) -> Callable:
        def timed(*values, **options):
            start_time = time.perf_counter()
            try:
                return method(*values, **options)
            finally:
                self.total += 1000 * (time.perf_counter() - start_time)

        return timed


def longest_gap(app: QCoreApplication, until: Callable[[], bool]) -> float:
    """Return the longest interruption of the event loop of this thread in milliseconds, until `until` is true."""
    longest, last = 0.0, time.perf_counter()
    while not until():
        app.processEvents()
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return 1000 * longest


def gui_thread(app: QCoreApplication, side: int, rounds: int) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "p"
        with Project.create(root, classes=list("abcde")) as project:
            write_png(project.image_path("a.png"), np.full((side, side), 128, np.uint8))
            annotation.save_mask(project, "a.png", painted(side))
        session = Session(save_delay=600)
        session.open_project(root)
        session.open_image("a.png")
        longest_gap(app, lambda: session.image is not None)
        end = time.perf_counter() + 1.0
        idle = longest_gap(app, lambda: time.perf_counter() > end)
        autosave = session.autosave
        commits, shares, gaps = [], [], []
        for number in range(3 * rounds + 1):
            session.editor.begin("paint")
            session.editor.paint_segment((100, 100 + number), (180, 130), 12, 1 + number % 5)
            commits.append(milliseconds(session.editor.commit, 1))
            held = MethodTimer(autosave, "_save", "_finish_save")
            autosave.retry()
            gaps.append(longest_gap(app, lambda: session.autosave.state == "saved"))
            shares.append(held.total)
            del autosave._save, autosave._finish_save
        whole = {}
        for what, order in (
            ("unpainted: not labelled", lambda: session.editor.set_explicit_background(True)),
            ("undo of it", session.undo),
            ("redo of it", session.redo),
            ("back to the beginning", lambda: session.restore(None)),
        ):
            start_time = time.thread_time()
            took = milliseconds(order, 1)
            whole[what] = f"{took:.0f} ms, of the processor {1000 * (time.thread_time() - start_time):.0f} ms"
        session.close_project()
    return [
        ("end of a stroke: step packed and in the journal", f"{statistics.median(commits):.2f} ms"),
        ("one autosave, GUI thread", f"{statistics.median(shares[1:]):.2f} ms; the first, of all: {shares[0]:.2f} ms"),
        ("one autosave, longest gap", f"{statistics.median(gaps[1:]):.1f} ms; the first: {gaps[0]:.1f} ms"),
        ("at rest, longest gap within a second", f"{idle:.1f} ms"),
        *((f"whole image, GUI thread: {what}", took) for what, took in whole.items()),
    ]


def steps(side: int, strokes: int) -> list[tuple[str, str]]:
    mask, rng, history = np.zeros((side, side), np.uint8), np.random.default_rng(1), []
    packing, undoing, total, held, changed = [], [], 0, 0, 0
    for _ in range(strokes):
        recording = StepRecording("a", "paint", mask)
        point, radius, id = rng.uniform(0, side, 2), rng.uniform(3, 40), int(rng.integers(1, 6))
        for _ in range(rng.integers(20, 120)):
            following = point + rng.normal(0, 12, 2)
            recording.touch(segment_rect(tuple(point), tuple(following), radius, mask.shape))
            draw_segment(mask, tuple(point), tuple(following), radius, Paint(id))
            point = following
        start_time = time.perf_counter()
        patch = recording.finish()
        packing.append(1000 * (time.perf_counter() - start_time))
        if patch is not None:
            history.append(patch)
            total += patch.nbytes
            held += sum(map(sys.getsizeof, (patch, patch.__dict__, *vars(patch).values())))
            changed += sum(rect.width * rect.height for rect in patch.rects)
    final = mask.copy()
    for patch in reversed(history):
        undoing.append(milliseconds(partial(patch.revert, mask), 1))
    exact = not mask.any()
    for patch in history:
        patch.apply(mask)
    exact = exact and np.array_equal(mask, final)
    return [
        (f"{strokes} strokes: areas kept before and after", f"{changed / 1e6:.1f} Mpx"),
        (f"{strokes} strokes: memory", f"{total / 1e6:.2f} MB reckoned, {held / 1e6:.2f} MB held by Python"),
        ("packing a stroke", f"median {statistics.median(packing):.2f} ms, 99 % {np.percentile(packing, 99):.2f} ms"),
        ("undo of a stroke", f"median {statistics.median(undoing):.2f} ms, 99 % {np.percentile(undoing, 99):.2f} ms"),
        ("all undone, all redone", "exact" if exact else "DIFFERS"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", default="2048,8192")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strokes", type=int, default=1000)
    args = parser.parse_args()
    app = QCoreApplication.instance() or QCoreApplication([])
    for side in map(int, args.sides.split(",")):
        print(f"\n| {side} x {side} | |\n|---|---|")
        for part in (encoding(side, args.rounds), gui_thread(app, side, args.rounds), steps(side, args.strokes)):
            for what, found in part:
                print(f"| {what} | {found} |", flush=True)


if __name__ == "__main__":
    main()
