"""Responsiveness of the window during a training: timer delays, stroke latency, memory and time to a first model.

    python tests/benchmarks/responsiveness.py [--minutes 1] [--seconds 15] [--rounds 3] [--points 1000000]
                                              [--ways child,thread,points,first]

Each row is measured in a window in a process of its own, with an image of 2048 × 2048 pixels that is painted on
continuously, 60 moves per second. "Late": delay of a tick of the GUI thread beyond 5 ms after the one before. "Held":
CPU time of the GUI thread between two ticks. "Stroke": time from a move to the end of the painting that shows it.

  idle     before the training, in the window of the row below
  child    a whole training in a child process, as in the window, with its start and end
  thread   the same training in a thread of the window's process, as in most tools
  points   a past run of --points steps is read, then drawn five times per second while it continues
  first    a training of --minutes on ten labeled images from a cold start: seconds from the command Train to the first
           step, to the first preview whose model is mature, and to the first validation with half of the final Dice

Memory is that of the window's process: of a new window, and before and ten seconds after the training, which follows a
short one that is not measured. Each value is also given without the loaded model ("bare"), because ONNX Runtime takes
the same memory for any model. The numbers hold for one machine only; compare the rows. Any other load on the machine
invalidates them.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose queue.py would hide the standard module

from workbench.core.runs.launch import worker_environment  # noqa: E402

TICK = 5  # ms
FRAME = 16.7  # ms
REST = 10.0  # seconds after a training, in which the model predicts images
AIMS = {"late p99": 8.0, "late max": 100.0, "stroke": 1.5, "memory": 10.0}  # ms, ms, times idle, MB
IMAGES, FEW = 16, 10  # labeled images of a training, and of the row "first"


# --- the window of one row ---------------------------------------------------------------------------


class Bench:
    """Application on a generated project, with a periodic timer and simulated painting."""

    def __init__(self, folder: Path, labeled: int = IMAGES) -> None:
        from PySide6.QtCore import Qt, QTimer
        from PySide6.QtWidgets import QApplication

        from workbench.session.preferences import Preferences
        from workbench.ui.shell.application import Application

        self.app = QApplication([])
        self._time_painting()
        self.window_app = Application(self.app, Preferences(language="en", theme="dark"))
        self.window, self.services = self.window_app.window, self.window_app.services
        self.window.resize(1280, 800)
        self.window_app.show()
        self.late: list[float] = []
        self.held: list[float] = []
        self.strokes: list[float] = []
        self._sent: float | None = None
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self._moves = 0
        self.tick_timer = QTimer(interval=TICK, timeout=self._record_tick, timerType=Qt.TimerType.PreciseTimer)
        self.move_timer = QTimer(interval=16, timeout=self._move, timerType=Qt.TimerType.PreciseTimer)
        session = self.services.session
        session.open_project(make_project(folder, labeled))
        self.wait(lambda: session.image is not None and session.mask is not None, 60)
        session.open_image("large.png")
        self.wait(lambda: session.key == "large.png" and session.image is not None, 60)
        self.window.training.make_curves()
        self.window.canvas.choose_tool("brush")
        self.window.canvas.set_diameter(30)

    def wait(self, done: Callable[[], bool], seconds: float) -> None:
        end = time.perf_counter() + seconds
        while not done() and time.perf_counter() < end:
            self.app.processEvents()
            time.sleep(0.001)

    def run_window(self, seconds: float, over: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Run the window for `seconds`, or until `over`; return the measurements."""
        from PySide6.QtCore import QEventLoop, QTimer

        self.late, self.held, self.strokes = [], [], []
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self.tick_timer.start()
        self.move_timer.start()
        loop = QEventLoop()
        predict_current = QTimer(interval=50, timeout=lambda: loop.quit() if over() else None)
        predict_current.start()
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()
        predict_current.stop()
        self.tick_timer.stop()
        self.move_timer.stop()
        self._release()
        return summary(self.late, self.held, self.strokes)

    def _record_tick(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._last) * 1e3 - TICK))
        worked = time.thread_time()
        self.held.append((worked - self._worked) * 1e3)
        self._last, self._worked = now, worked

    # --- simulated painting --------------------------------------------------------------------------------

    def _time_painting(self) -> None:
        """Record the end of every paint event of a canvas."""
        from workbench.ui.canvas.canvas_widget import Canvas

        paint = Canvas.paintEvent

        def timed(canvas, event) -> None:
            paint(canvas, event)
            if self._sent is not None:
                self.strokes.append((time.perf_counter() - self._sent) * 1e3)
                self._sent = None

        Canvas.paintEvent = timed

    def _move(self) -> None:
        """Move in loops over the middle of the canvas, in strokes of 60 moves."""
        import math

        from PySide6.QtCore import QEvent, QPointF, Qt
        from PySide6.QtGui import QMouseEvent

        canvas = self.window.canvas
        angle = self._moves * 0.11
        at = QPointF(canvas.width() / 2 + 130 * math.cos(angle), canvas.height() / 2 + 90 * math.sin(1.7 * angle))
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        first, last = self._moves % 60 == 0, self._moves % 60 == 59
        kind = QEvent.Type.MouseButtonPress if first else QEvent.Type.MouseMove
        if last:
            kind = QEvent.Type.MouseButtonRelease
        self._moves += 1
        button, buttons = (left if first or last else none), (none if last else left)
        event = QMouseEvent(kind, at, canvas.mapToGlobal(at), button, buttons, Qt.KeyboardModifier.NoModifier)
        if kind == QEvent.Type.MouseMove and self._sent is None:
            self._sent = time.perf_counter()
        self.app.sendEvent(canvas, event)

    def _release(self) -> None:
        while self._moves % 60:
            self._move()
        self._sent = None


def summary(late: list[float], held: list[float], strokes: list[float]) -> dict[str, Any]:
    import numpy as np

    def summarize(values: list[float]) -> list[float]:
        return (
            [float(np.percentile(values, 50)), float(np.percentile(values, 99)), max(values)] if values else [0.0] * 3
        )

    return {
        "late": summarize(late),
        "held": summarize(held),
        "stroke": summarize(strokes),
        "ticks": len(late),
        "strokes": len(strokes),
        "frames": sum(value > FRAME for value in late),
        "long": sum(value > 100 for value in late),
    }


def make_project(folder: Path, labeled: int = IMAGES) -> Path:
    """Create labeled images for training, four of sixteen without defects, and a large one to paint on."""
    import numpy as np

    from tests.conftest import scratched
    from workbench.core.project import annotation
    from workbench.core.project.project import Project
    from workbench.inference.io.image_io import write_png

    rng = np.random.default_rng(5)
    with Project.create(folder / "project", classes=["scratch", "pit"]) as project:
        for number in range(labeled):
            picture, mask = scratched(rng, 512, 384, defects=3 if number < 12 else 0)
            key = f"part{number}/a.png"
            write_png(project.image_path(key), picture)
            annotation.save_mask(project, key, mask)
            annotation.save_note(project, key, annotation.Note(status="done"))
        write_png(project.image_path("large.png"), scratched(rng, 2048, 2048, defects=30)[0])
    return folder / "project"


def memory(bench: Bench) -> list[float]:
    """Return the memory of this process in megabytes, with and without the loaded model."""
    import psutil

    from workbench.inference.cpu_environment import release_free_memory

    found = []
    for let_go in (lambda: None, bench.services.predictions.close):
        let_go()
        gc.collect()
        release_free_memory()
        found.append(psutil.Process().memory_info().rss / 2**20)
    return found


# --- the same training in a thread of the window -------------------------------------------------------


def train_in_a_thread() -> None:
    """Replace the child process of TrainingControl by a thread of this process."""
    from PySide6.QtCore import QThread, Signal

    from workbench.core.runs.events import Event, encode_command
    from workbench.session.training import training_control

    class TrainerInWindow(QThread):
        """Substitute for TrainerThread without a child process."""

        reported, recalled, ended = Signal(object), Signal(object), Signal(object)

        def __init__(self, run, **how: Any) -> None:
            super().__init__(how.get("parent"))
            self.training_run, self.live, self._channel = run, True, None

        def run(self) -> None:
            from workbench.training.reporter import Clock, ControlChannel, Reporter
            from workbench.training.training_loop import train

            class Direct(Reporter):
                def __call__(reporter, event: Event) -> None:
                    super().__call__(event)
                    self.reported.emit(event)

            clock = Clock()
            self._channel = ControlChannel(None)
            report = Direct(None, clock, self.training_run.events_path)
            ending = train(self.training_run, report, self._channel, clock, resume=False)
            report(ending)
            self.live = False
            self.ended.emit(ending)

        def _send(self, *command: str) -> None:
            if self._channel is not None:
                self._channel.apply(encode_command(*command))

        def watch(self, key: str) -> None:
            self._send("watch", key)

        def report_labels(self, key: str) -> None:
            self._send("labels_changed", key)

        def stop(self, *, force: bool = False) -> None:
            self._send("stop")

        def detach(self) -> None:
            self._send("stop")

        def __getattr__(self, name: str):  # commands of newer versions of the window
            return lambda *_: None

    training_control.TrainerThread = TrainerInWindow


# --- rows --------------------------------------------------------------------------------------------


def row_trained(bench: Bench, way: str, args: argparse.Namespace) -> dict[str, Any]:
    from workbench.core.runs.events import Failed, Finished

    fresh, endings = memory(bench)[0], []
    training = bench.services.training
    training.ended.connect(endings.append)
    training.start("unet", minutes=0.1, device="cpu")
    bench.wait(lambda: bool(endings), 120)
    bench.wait(lambda: False, REST)
    endings.clear()
    if way == "thread":
        train_in_a_thread()
    idle = bench.run_window(args.seconds)
    before = memory(bench)
    training.start("unet", minutes=args.minutes, device="cpu")
    found = bench.run_window(args.minutes * 60 * 4 + 60, lambda: bool(endings))
    bench.wait(lambda: False, REST)
    after = memory(bench)
    ending = endings[0] if endings else Failed(why="it did not end in time")
    speed = ending.result.get("images_per_second") if isinstance(ending, Finished) else None
    why = "" if isinstance(ending, Finished) else ending.why
    return {"idle": idle, way: found, "memory": [fresh, before, after], "speed": speed, "failed": why}


def row_points(bench: Bench, args: argparse.Namespace) -> dict[str, Any]:
    from PySide6.QtCore import QTimer

    from workbench.core.runs.events import Finished, Started, Step, encode
    from workbench.core.runs.run import create_run
    from workbench.core.runs.training_settings import request

    run = create_run(bench.services.session.project, request("unet", epochs=1, device="cpu"))
    started = Started(model="unet", device="gpu:0", precision="fp16", pictures={"train": 12, "val": 4})
    count = args.points

    def step(number: int) -> Step:
        loss = 1 + (number * 7919 % 1000) / 1000
        return Step(
            step=number,
            time=number / 5,
            loss=loss,
            rate=0.01,
            grad_norm=loss,
            loss_scale=1024.0,
            images_per_second=50 + loss,
            data_wait=0.1,
            progress=number / count,
        )

    with run.events_path.open("w", encoding="utf-8") as file:
        file.write(encode(started) + "\n")
        file.writelines(encode(step(number)) + "\n" for number in range(count))
        file.write(encode(Finished(time=count / 5)) + "\n")
    training, pasts, endings = bench.services.training, [], []
    training.recalled.connect(pasts.append)
    training.ended.connect(endings.append)
    legend = bench.window.training.view.legend
    for item in legend.items.values():
        item.setCheckState(0, type(item.checkState(0)).Checked)
    training.follow(run)
    start_time = time.perf_counter()
    read = bench.run_window(600, lambda: bool(endings))
    seconds = time.perf_counter() - start_time
    numbers = iter(range(count, count + 10**6))
    more = QTimer(interval=200, timeout=lambda: training.reported.emit(step(next(numbers))))
    more.start()
    drawn = bench.run_window(args.seconds)
    more.stop()
    return {"read": read, "points": drawn, "kept": bench.services.run_monitor.series.steps.count, "seconds": seconds}


def row_first(bench: Bench, args: argparse.Namespace) -> dict[str, Any]:
    """Measure the seconds from the command Train to a first step, a first mature preview and half of the final Dice."""
    from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Step

    training, session = bench.services.training, bench.services.session
    session.open_image(session.keys[-1])
    bench.wait(lambda: session.key == session.keys[-1] and session.image is not None, 60)
    first: dict[str, float] = {}
    validations: list[tuple[float, float]] = []
    endings: list[Finished | Failed] = []
    start_time = time.perf_counter()

    def on_event(event: Event) -> None:
        if isinstance(event, Step):
            first.setdefault("step", time.perf_counter() - start_time)
        elif isinstance(event, Evaluated) and event.split == "val" and event.metrics.get("dice") is not None:
            validations.append((time.perf_counter() - start_time, event.metrics["dice"]))

    def on_preview(key: str) -> None:
        found = training.previews.maturity(key)
        if found is not None and found.mature and found.facts.regions:
            first.setdefault("mature", time.perf_counter() - start_time)

    training.reported.connect(on_event)
    training.preview_arrived.connect(on_preview)
    training.ended.connect(endings.append)
    training.start("unet", minutes=args.minutes, device="cpu")
    bench.wait(lambda: bool(endings), args.minutes * 60 * 4 + 60)
    ending = endings[0] if endings else Failed(why="it did not end in time")
    final = (ending.result.get("metrics") or {}).get("dice") if isinstance(ending, Finished) else None
    return {
        **first,
        "dice": final,
        "half": None if final is None else seconds_to_half(validations, final),
        "failed": "" if isinstance(ending, Finished) else ending.why,
    }


def seconds_to_half(validations: list[tuple[float, float]], final: float) -> float | None:
    """Return the time of the first (time, Dice) with at least half of the final Dice; None if there is none."""
    return next((seconds for seconds, dice in validations if final > 0 and 2 * dice >= final), None)


def first_line(name: str, found: dict[str, Any]) -> str:
    if found["failed"]:
        return f"{name}: {found['failed']}"
    parts = {"first step": "step", "first mature preview": "mature", "half of the final Dice": "half"}
    times = [f"{text} {'never' if found.get(key) is None else f'{found[key]:.1f} s'}" for text, key in parts.items()]
    dice = "unknown" if found["dice"] is None else f"{found['dice']:.3f}"
    return f"{name}: {', '.join(times)} after Train on {FEW} labels; final Dice {dice}"


def one_row(way: str, args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), FEW if way == "first" else IMAGES)
        if way == "first":
            found = row_first(bench, args)
        else:
            bench.run_window(2)  # costs of first calls
            found = row_points(bench, args) if way == "points" else row_trained(bench, way, args)
        bench.window_app.end()
    return found


# --- the table ---------------------------------------------------------------------------------------


def measured(way: str, args: argparse.Namespace) -> dict[str, Any]:
    """Measure one row in a process of its own."""
    command = [
        sys.executable,
        __file__,
        "--way",
        way,
        "--minutes",
        str(args.minutes),
        "--seconds",
        str(args.seconds),
        "--points",
        str(args.points),
    ]
    environment = worker_environment() if way == "thread" else dict(os.environ)
    with tempfile.TemporaryDirectory() as home:
        environment |= {"XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def line(name: str, found: dict[str, Any], more: str = "") -> str:
    late, held, stroke = found["late"], found["held"], found["stroke"]
    return (
        f"| {name} | {late[0]:.2f} / {late[1]:.2f} / {late[2]:.1f} | {found['frames']} of {found['ticks']} | "
        f"{found['long']} | {held[1]:.1f} / {held[2]:.1f} | {stroke[0]:.2f} / {stroke[1]:.2f} | {more} |"
    )


def verdict(name: str, value: float, aim: float, unit: str) -> str:
    return f"{name}: {value:.2f} {unit}, at most {aim:g} {unit}: {'met' if value <= aim else 'NOT MET'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--ways", default="child,thread,points,first")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.way:
        print(json.dumps(one_row(args.way, args)))
        return 0
    print(f"{os.cpu_count()} cores, ticks of {TICK} ms; a training of {args.minutes:g} min; {args.rounds} rounds\n")
    headers = "late ms p50 / p99 / max", "late by a frame", "> 100 ms", "held ms p99 / max", "stroke ms p50 / p99"
    print(f"| window | {' | '.join(headers)} | |")
    print("|---|---:|---:|---:|---:|---:|---|")
    summarize: list[str] = []
    for number in range(args.rounds):
        for way in args.ways.split(","):
            found = measured(way, args)
            if way == "first":
                summarize.append(first_line(f"round {number + 1}", found))
                continue
            if way == "points":
                read = f"{found['kept']} steps read in {found['seconds']:.1f} s"
                print(line(f"{number + 1} reads a past run", found["read"], read))
                print(line(f"{number + 1} draws {found['kept']} points", found["points"]), flush=True)
                continue
            idle, busy, (fresh, before, after) = found["idle"], found[way], found["memory"]
            speed = f"{found['speed']:.1f} images/s" if found["speed"] else found["failed"]
            held, stays = after[0] - before[0], after[1] - before[1]
            print(line(f"{number + 1} idle", idle, f"{before[0]:.0f} MB, bare {before[1]:.0f}, fresh {fresh:.0f}"))
            sizes = f"{after[0]:.0f} MB ({held:+.1f}), bare {after[1]:.0f} ({stays:+.1f})"
            print(line(f"{number + 1} {way}", busy, f"{sizes}, {speed}"), flush=True)
            if way == "child":
                ratio = busy["stroke"][0] / max(1e-9, idle["stroke"][0])
                summarize += [
                    verdict(f"round {number + 1}, heartbeat p99", busy["late"][1], AIMS["late p99"], "ms late"),
                    verdict(f"round {number + 1}, heartbeat max", busy["late"][2], AIMS["late max"], "ms late"),
                    verdict(f"round {number + 1}, stroke p50 beside idle", ratio, AIMS["stroke"], "times"),
                    verdict(f"round {number + 1}, memory that stays, bare", stays, AIMS["memory"], "MB"),
                ]
    print("\n" + "\n".join(summarize))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
