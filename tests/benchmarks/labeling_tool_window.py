"""Window of one labeling tool, ours or another: time to the first view of an image, and cost of a move.

Started by labeling_tools.py with the Python that has the tool installed; workbench is imported for "ours" only.

    PYTHON labeling_tool_window.py ours|labelme|napari SMALL LARGE MOVES
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEIGHT = 1280, 800


def resident() -> float:
    """Return the resident memory of this process in megabytes."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return float(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def walk(moves: int) -> list[tuple[float, float]]:
    """Return a random walk with steps of 12 screen pixels."""
    rng = np.random.default_rng(0)
    x, y, angle, points = WIDTH / 2, HEIGHT / 2, 0.0, []
    for _ in range(moves):
        angle += rng.normal(0, 0.4)
        x, y = x + 12 * np.cos(angle), y + 12 * np.sin(angle)
        if not (340 < x < WIDTH - 340 and 200 < y < HEIGHT - 200):
            angle += np.pi
            x, y = min(max(x, 340), WIDTH - 340), min(max(y, 200), HEIGHT - 200)
        points.append((float(x), float(y)))
    return points


def timed(act: Callable[[], Any], until: Callable[[], bool], pump: Callable[[], Any]) -> float:
    """Return the milliseconds from `act` until `until` is true, at most 5 s."""
    start_time = time.perf_counter()
    act()
    while not until() and time.perf_counter() < start_time + 5:
        pump()
    return (time.perf_counter() - start_time) * 1e3


def ours(small: Path, large: Path, moves: int) -> dict[str, Any]:
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from tests.benchmarks.canvas_driver import LEFT, NONE, Bench, QApplication, QEvent, QPointF

    app = QApplication([])
    bench = Bench(large.parent.parent)
    canvas, session = bench.canvas, bench.session
    observed: list[str] = []
    session.image_loader.previewed.connect(
        lambda key, picture, size: (canvas.scene.show_preview(picture, size), observed.append(key))
    )
    session.current.opened.connect(observed.append)

    def show(path: Path) -> float:
        """Return the time to the first frame with the image in it, at any resolution."""
        observed.clear()

        def shown() -> bool:
            if path.name not in observed:
                return False
            frames = canvas.frames
            canvas.update()
            app.processEvents()
            return canvas.frames > frames

        return timed(lambda: session.open_image(path.name), shown, app.processEvents)

    timed(lambda: None, lambda: len(session.keys) > 1, app.processEvents)
    show(small)
    bench.process_events()
    before = resident()
    opened = show(large)
    timed(lambda: None, lambda: session.image is not None and session.key == large.name, app.processEvents)
    while canvas.scene.reading or len(canvas.scene.image.levels) == 1:
        app.processEvents()
    bench.process_events()
    result = {"about": "ours", "opened": opened, "added": resident() - before, "moves": {}}
    canvas.choose_tool("brush")
    for where, go in (("1:1", canvas.view_state.actual_size), ("fit", canvas.view_state.fit)):
        go()
        for radius in (20, 100):
            canvas.set_diameter(2 * radius)
            bench.process_events()
            points = [QPointF(*point) for point in walk(moves)]
            bench.send(QEvent.Type.MouseButtonPress, points[0], LEFT, LEFT)
            times = [bench.send(QEvent.Type.MouseMove, point, NONE, LEFT) for point in points[1:]]
            bench.send(QEvent.Type.MouseButtonRelease, points[-1], LEFT, NONE)
            result["moves"][f"brush {radius}, {where}"] = times
    bench.close()
    return result


def labelme(small: Path, large: Path, moves: int) -> dict[str, Any]:
    import labelme as program
    from labelme.app import MainWindow
    from PyQt5 import QtCore, QtGui, QtWidgets

    app = QtWidgets.QApplication([])
    window = MainWindow()
    window.resize(WIDTH + 400, HEIGHT + 200)
    window.show()
    canvas = window._canvas_widgets.canvas
    frames = [0]
    drawn = type(canvas).paintEvent

    def paint(self: Any, event: Any) -> None:
        drawn(self, event)
        frames[0] += 1

    type(canvas).paintEvent = paint

    def show(path: Path) -> float:
        start_time = frames[0]
        return timed(lambda: window._load_file(str(path)), lambda: frames[0] > start_time, app.processEvents)

    show(small)
    for _ in range(20):
        app.processEvents()
    before = resident()
    result: dict[str, Any] = {"about": f"labelme {program.__version__}", "opened": show(large), "moves": {}}
    result["added"] = resident() - before
    window._switch_canvas_mode(edit=False, create_mode="polygon")

    def send(kind: Any, at: tuple[float, float], button: Any, buttons: Any) -> float:
        spot = canvas.mapFrom(window, QtCore.QPoint(round(at[0]), round(at[1])))
        event = QtGui.QMouseEvent(kind, QtCore.QPointF(spot), button, buttons, QtCore.Qt.NoModifier)
        start_time = frames[0]
        return timed(
            lambda: QtWidgets.QApplication.sendEvent(canvas, event), lambda: frames[0] > start_time, app.processEvents
        )

    for where in ("1:1", "fit"):
        (window._set_zoom_to_original if where == "1:1" else window.set_fit_window_mode)()
        for _ in range(20):
            app.processEvents()
        points = walk(moves)
        left, none = QtCore.Qt.LeftButton, QtCore.Qt.NoButton
        send(QtCore.QEvent.MouseButtonPress, points[0], left, left)
        send(QtCore.QEvent.MouseButtonRelease, points[0], left, none)
        times = [send(QtCore.QEvent.MouseMove, point, none, none) for point in points[1:]]
        result["moves"][f"polygon, {where}"] = times
        QtWidgets.QApplication.sendEvent(
            canvas, QtGui.QKeyEvent(QtCore.QEvent.KeyPress, QtCore.Qt.Key_Escape, QtCore.Qt.NoModifier)
        )
    return result


def napari(small: Path, large: Path, moves: int) -> dict[str, Any]:
    import napari as program
    from qtpy import QtCore, QtGui, QtWidgets

    viewer = program.Viewer(ndisplay=2)
    app = QtWidgets.QApplication.instance()
    viewer.window._qt_window.resize(WIDTH + 400, HEIGHT + 200)
    canvas = viewer.window._qt_viewer.canvas
    frames = [0]

    def count(_: Any) -> None:
        frames[0] += 1

    canvas._scene_canvas.events.draw.connect(count, position="last")

    def show(path: Path) -> float:
        start_time = frames[0]
        viewer.layers.clear()
        return timed(lambda: viewer.open(str(path)), lambda: frames[0] > start_time, app.processEvents)

    show(small)
    for _ in range(20):
        app.processEvents()
    before = resident()
    result: dict[str, Any] = {"about": f"napari {program.__version__}", "opened": show(large), "moves": {}}
    layer = viewer.add_labels(np.zeros(viewer.layers[0].data.shape[:2], np.uint8))
    for _ in range(20):
        app.processEvents()
    result["added"] = resident() - before
    layer.mode, layer.selected_label = "paint", 1
    native = canvas.native

    def send(kind: Any, at: tuple[float, float], button: Any, buttons: Any) -> float:
        spot = QtCore.QPointF(*at)
        event = QtGui.QMouseEvent(
            kind,
            spot,
            QtCore.QPointF(native.mapToGlobal(spot.toPoint())),
            button,
            buttons,
            QtCore.Qt.KeyboardModifier.NoModifier,
        )
        start_time = frames[0]
        return timed(
            lambda: QtWidgets.QApplication.sendEvent(native, event), lambda: frames[0] > start_time, app.processEvents
        )

    left, none = QtCore.Qt.MouseButton.LeftButton, QtCore.Qt.MouseButton.NoButton
    for where in ("1:1", "fit"):
        viewer.reset_view()
        if where == "1:1":
            viewer.camera.zoom = 1
        for radius in (20, 100):
            layer.brush_size = 2 * radius
            for _ in range(20):
                app.processEvents()
            points = walk(moves)
            send(QtCore.QEvent.Type.MouseButtonPress, points[0], left, left)
            times = [send(QtCore.QEvent.Type.MouseMove, point, none, left) for point in points[1:]]
            send(QtCore.QEvent.Type.MouseButtonRelease, points[-1], left, none)
            result["moves"][f"brush {radius}, {where}"] = times
    return result


if __name__ == "__main__":
    tool = {"ours": ours, "labelme": labelme, "napari": napari}[sys.argv[1]]
    print(json.dumps(tool(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))), flush=True)
    os._exit(0)  # no questions about labels that were not saved
