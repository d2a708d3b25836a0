"""Cost of the canvas, from a mouse event to the painted frame, in comparison with a plain Qt canvas. Prints one table.

python -m tests.benchmarks.canvas [--sizes 1024,4096] [--radii 5,100] [--moves 150] [--rounds 5] [--naive 4096] [--full]
    [--training 3] [--turns 500]
`--full` adds an image of 20,000 × 20,000 pixels. Without a display the canvas is drawn offscreen; with DISPLAY set and
QT_QPA_PLATFORM=xcb on that screen. The absolute times hold for one machine only; the ratios can be compared.

A stroke is one press and moves of 12 screen pixels. Each number is the median of several strokes, because other
programs run on the machine. "Painted" means that paintEvent has returned and the event queue is empty. The naive canvas
converts the whole class mask to RGBA and to a pixmap on every move, as many tools do.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPixmap, QWheelEvent
from PySide6.QtWidgets import QApplication, QGraphicsPixmapItem, QGraphicsScene, QGraphicsView

from tests.benchmarks.canvas_driver import HEIGHT, LEFT, MIDDLE, NONE, WIDTH, Bench, path, surface
from workbench.core.geometry.drawing import Paint, draw_segment
from workbench.core.project.project import Project
from workbench.core.runs.events import Step
from workbench.core.sample_project import make_sample
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2
from workbench.session.training.training_control import TrainingControl

FLAT = 20  # megabytes that hundreds of changes of the image may add
ZOOMS = (0.05, 0.21, 0.5, 0.7, 1.0, 1.3, 3.7, 4.0)


def on_row(times: list[float]) -> str:
    return f"{np.percentile(times, 50):8.3f} {np.percentile(times, 99):8.3f} {max(times):8.3f}"


# --- measurements ---------------------------------------------------------------------------------


def strokes(
    bench: Bench, sizes: list[int], radii: list[int], moves: int, rounds: int
) -> dict[tuple[int, int, str], tuple[float, float]]:
    """Return the median and the 99% quantile in milliseconds by size, radius and zoom; print each row."""
    found: dict[tuple[int, int, str], tuple[float, float]] = {}
    for size in sizes:
        bench.show(size)
        for where in ("1:1", "fit"):
            (bench.canvas.view_state.actual_size if where == "1:1" else bench.canvas.view_state.fit)()
            for radius in radii:
                bench.canvas.set_diameter(2 * radius)
                bench.stroke(path(10, 9))
                rows = []
                for number in range(rounds):
                    times = bench.stroke(path(moves, number))
                    rows.append(
                        [*np.percentile(times, (50, 99, 100)), *np.percentile(bench.work, (50, 99)), bench.release]
                    )
                typical = np.median(rows, axis=0).tolist()
                found[size, radius, where] = typical[0], typical[1]
                numbers = " ".join(f"{number:8.3f}" for number in typical)
                print(f"stroke {size:6d}²  radius {radius:5d}  {where:4} {numbers}", flush=True)
    return found


def naive(size: int, radius: int, moves: int) -> list[float]:
    """Measure the same stroke at 1:1 on a QGraphicsPixmapItem converted from the whole mask on every move."""
    picture, mask = surface(size), np.zeros((size, size), np.uint8)
    table = np.zeros((256, 4), np.uint8)
    table[1] = 0, 80, 230, 115
    scene = QGraphicsScene()
    gray = QImage(picture.data, size, size, size, QImage.Format.Format_Grayscale8)
    scene.addItem(QGraphicsPixmapItem(QPixmap.fromImage(gray)))
    item = QGraphicsPixmapItem()
    scene.addItem(item)
    view = QGraphicsView(scene)
    view.resize(WIDTH, HEIGHT)
    view.show()
    QApplication.processEvents()
    times, last = [], None
    for point in path(moves):
        spot = view.mapToScene(point.toPoint())
        start_time = time.perf_counter()
        here = (round(spot.x()), round(spot.y()))
        cv2.line(mask, last or here, here, 1, 2 * radius)
        last = here
        rgba = table[mask]
        item.setPixmap(QPixmap.fromImage(QImage(rgba.data, size, size, 4 * size, QImage.Format.Format_ARGB32)))
        QApplication.processEvents()
        times.append((time.perf_counter() - start_time) * 1e3)
    view.close()
    return times[1:]


def share_at(bench: Bench, hertz: float, moves: int) -> float:
    """Return the share of moves that are handled and painted at `hertz` moves per second.

    A busy program receives only the newest position, because Qt compresses queued moves: the others count as lost.
    """
    points = path(moves, 3)
    bench.send(QEvent.Type.MouseButtonPress, points[0], LEFT, LEFT)
    start_time, done, last = time.perf_counter(), 0, 0
    while last < moves:
        due = min(int((time.perf_counter() - start_time) * hertz), moves)
        if due > last:
            frames = bench.canvas.frames
            bench.send(QEvent.Type.MouseMove, points[due], NONE, LEFT)
            done += bench.canvas.frames > frames
            last = due
    bench.send(QEvent.Type.MouseButtonRelease, points[-1], LEFT, NONE)
    return done / moves


def share_while_training(size: int, hertz: float, moves: int, minutes: float) -> float:
    """Return the result of `share_at` during a training on the sample project in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        make_sample(Path(folder) / "sample", small=True).close()
        bench = Bench(Path(folder) / "sample")
        training = TrainingControl(bench.session)
        steps: list[Step] = []
        ended: list[object] = []
        training.reported.connect(lambda event: steps.append(event) if isinstance(event, Step) else None)
        training.ended.connect(ended.append)
        training.start("unet", minutes=minutes, device="cpu")
        end = time.perf_counter() + 120
        while not steps and not ended and time.perf_counter() < end:
            QApplication.processEvents()
            time.sleep(0.01)
        bench.show(size)
        bench.canvas.set_diameter(40)
        bench.canvas.view_state.actual_size()
        share = share_at(bench, hertz, moves) if steps and not ended else float("nan")
        if ended:
            print(f"the training ended too early: {ended[0]}")
        training.stop(force=True)
        training.close()
        bench.close()
    return share


def changes(count: int, size: int = 1500, images: int = 24) -> tuple[float, float]:
    """Return the memory in megabytes after a fifth of `count` changes of the image, and after all of them."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        with Project.create(root, classes=["scratch"]) as project:
            for number in range(images):
                write_png(project.image_path(f"{number:03d}.png"), surface(size + number))
        bench = Bench(root)
        session = bench.session
        opened: list[str] = []
        session.current.opened.connect(opened.append)
        while len(session.keys) < images:
            QApplication.processEvents()
        session.open_image(session.keys[0])
        held = []
        for number in range(count):
            while len(opened) <= number:
                QApplication.processEvents()
            if number % 3 == 0:
                session.editor.begin("paint")
                session.editor.paint_segment((100, 100 + number), (900, 100 + number), 6, 1)
                session.editor.commit()
            step = 1 if number // (images - 1) % 2 == 0 else -1
            session.go(step)
            if number + 1 in (count // 5, count):
                session.flush()
                bench.process_events()
                held.append(resident())
        bench.close()
    return held[0], held[-1]


def resident() -> float:
    """Return the resident memory of this process in megabytes; nan if the system does not report it."""
    import psutil

    return psutil.Process().memory_info().rss / 1024**2


def screen(bench: Bench) -> np.ndarray:
    grabbed = bench.canvas.screen().grabWindow(bench.canvas.winId()).toImage()
    image = grabbed.convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return pixels[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def differing(bench: Bench) -> Iterator[tuple[float, int]]:
    """Return the number of pixels that differ from a full repaint after strokes and pans, by zoom."""
    bench.canvas.set_diameter(40)
    for zoom in ZOOMS:
        bench.canvas.set_view(bench.canvas.view.at_scale(zoom))
        for i in range(6):
            bench.stroke(path(15, i))
            bench.canvas.set_view(bench.canvas.view.moved(7 * i - 20, 11 - 5 * i))
            QApplication.processEvents()
        end = time.perf_counter() + 0.4  # the overview follows a little later
        while time.perf_counter() < end:
            QApplication.processEvents()
        part = screen(bench)
        bench.canvas.update()
        bench.process_events()
        yield zoom, int((part != screen(bench)).any(axis=2).sum())


def visible(bench: Bench, size: int, count: int = 200) -> int:
    """Return the number of scratches one pixel wide, of `count`, that are visible at the fitted zoom."""
    rng = np.random.default_rng(7)
    mask = bench.show(size)
    bench.canvas.minimap.enabled = False
    ends = []
    for _ in range(count):
        start = rng.uniform(0.02 * size, 0.9 * size, 2)
        angle, length = rng.uniform(0, np.pi), rng.uniform(0.005, 0.025) * size
        ends.append((start, start + length * np.array([np.cos(angle), np.sin(angle)])))
        draw_segment(mask, tuple(ends[-1][0]), tuple(ends[-1][1]), 0.5, Paint(1))
    bench.canvas.scene.show_labels(mask)
    bench.canvas.view_state.fit()
    while bench.canvas.scene.reading:
        bench.process_events()
    bench.process_events()
    shown = screen(bench).astype(int)
    marked = np.abs(shown[:, :, 0] - shown[:, :, 2]) > 30
    found = 0
    for start, end in ends:
        along = start + np.linspace(0, 1, 50)[:, None] * (end - start)
        columns, rows = np.array([bench.canvas.view.to_screen(x, y) for x, y in along]).T.astype(int)
        found += any(marked[r - 1 : r + 2, c - 1 : c + 2].any() for r, c in zip(rows, columns, strict=True))
    return found


def frames(bench: Bench, kind: str, count: int) -> list[float]:
    """Return milliseconds per frame while the image is dragged, or zoomed in and out with the wheel."""
    canvas = bench.canvas
    if kind == "pan":
        points = path(count, 5)
        bench.send(QEvent.Type.MouseButtonPress, points[0], MIDDLE, MIDDLE)
        times = [bench.send(QEvent.Type.MouseMove, point, NONE, MIDDLE) for point in points[1:]]
        bench.send(QEvent.Type.MouseButtonRelease, points[-1], MIDDLE, NONE)
        return times
    times, at = [], QPointF(WIDTH / 2 + 31, HEIGHT / 2 - 17)
    for i in range(count):
        turn = QPoint(0, 120 if i // 10 % 2 else -120)
        event = QWheelEvent(
            at,
            canvas.mapToGlobal(at),
            QPoint(),
            turn,
            NONE,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        start_time = time.perf_counter()
        QApplication.sendEvent(canvas, event)
        QApplication.processEvents()
        times.append((time.perf_counter() - start_time) * 1e3)
    return times


def highest() -> float:
    """Return the peak memory of this process in megabytes. getrusage on Linux would include the parent's memory."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return float(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak(size: int) -> float:
    """Return the peak memory in megabytes of a process that shows a gray image and paints on it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.canvas", "--peak-of", str(size)], capture_output=True, text=True
    )
    return float(done.stdout.split()[-1]) if done.returncode == 0 else float("nan")


# --- the table ------------------------------------------------------------------------------------


def main() -> None:
    numbers: Callable[[str], list[int]] = lambda text: [int(part) for part in text.split(",") if part]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=numbers, default=[1024, 4096, 8192])
    parser.add_argument("--radii", type=numbers, default=[5, 100, 1000])
    parser.add_argument("--naive", type=numbers, default=[4096, 8192])
    parser.add_argument("--training", type=float, default=3, help="minutes that a training may take beside; 0: none")
    parser.add_argument("--turns", type=int, default=500, help="changes of the image; 0: none")
    parser.add_argument("--moves", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5, help="strokes of each kind")
    parser.add_argument("--full", action="store_true", help="20,000 pixels squared too")
    parser.add_argument("--peak-of", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    app = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "project")
        if args.peak_of:
            bench.show(args.peak_of)
            for _ in range(3):
                bench.stroke(path(50))
            print(highest())
        else:
            sizes, slow = args.sizes + ([20_000] if args.full else []), args.naive
            report(bench, sizes, args.radii, slow, args.moves, args.rounds, args.training, args.turns)
        bench.close()
    app.processEvents()


def report(
    bench: Bench,
    sizes: list[int],
    radii: list[int],
    slow: list[int],
    moves: int,
    rounds: int,
    training: float,
    turns: int,
) -> None:
    print(f"{QApplication.platformName()}, {WIDTH} x {HEIGHT}; milliseconds from event to painted frame")
    print(f"{'':34}{'p50':>8} {'p99':>8} {'most':>8} {'p50':>8} {'p99':>8} {'release':>8} of processor time")
    found = strokes(bench, sizes, radii, moves, rounds)
    largest, middle = sizes[-1], radii[0]
    half = {key: times[0] for key, times in found.items()}
    ratio = half[largest, middle, "1:1"] / half[sizes[0], middle, "1:1"]
    print(f"p50 at {largest}² over {sizes[0]}², radius {middle}, 1:1: {ratio:.2f}  {verdict(ratio <= 2)} (at most 2)")
    for limit, chosen in ((2.0, [r for r in radii if r <= 100]), (8.0, [r for r in radii if 100 < r <= 1000])):
        if not chosen:
            continue
        worst = max((found[key][1] for key in found if key[1] in chosen), default=0.0)
        print(f"worst p99, radii {chosen}: {worst:.2f} ms  {verdict(worst <= limit)} (at most {limit:g})")
    for size in slow:
        times = naive(size, middle, 6 if size > 5000 else 12)
        own = half.get((size, middle, "1:1"), half[largest, middle, "1:1"])
        gain, bar = float(np.percentile(times, 50)) / own, 500 if size > 5000 else 100
        print(f"naive  {size:6d}²  radius {middle:5d}  1:1  {on_row(times)}", end="")
        print(f"  {gain:.0f} times  {verdict(gain >= bar)} (at least {bar})")
    bench.show(largest)
    bench.canvas.set_diameter(40)
    bench.canvas.view_state.actual_size()
    shares = {"": share_at(bench, 240, 480)}
    if training:
        shares[", while training"] = share_while_training(largest, 240, 480, training)
    for when, share in shares.items():
        print(f"240-Hz moves handled and painted at {largest}²{when}: {share:.1%}  {verdict(share >= 0.98)} (98 %)")
    for kind in ("pan", "zoom"):
        times = frames(bench, kind, moves)
        met_aim = verdict(float(np.percentile(times, 99)) <= 16)
        print(f"{kind:4} frame at {largest:6d}²{'':15} {on_row(times)}  {met_aim} (p99 at most 16)")
    print("pixels that differ from a whole repaint:", {zoom: count for zoom, count in differing(bench)})
    print(f"scratches of one pixel visible at fit, {largest}²: {visible(bench, largest)} of 200")
    if turns:
        early, late = changes(turns)
        met_aim = verdict(late <= early + FLAT)
        print(
            f"memory after {turns // 5} and {turns} changes of the image: {early:.0f}, {late:.0f} MB  {met_aim} "
            f"(at most {FLAT} more)"
        )
    print(f"peak memory, gray {largest}² and its mask: {peak(largest):.0f} MB (20,000²: at most 1,331)")


def verdict(met_aim: bool) -> str:
    return "met" if met_aim else "NOT MET"


if __name__ == "__main__":
    main()
