"""Access of interactors to the session and to the canvas: image, mask, classes, view, tasks, options of the tools.

The option bar shows and changes these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QColor

from workbench.core.geometry.selection import GrayLevels, Point, levels_of
from workbench.core.problems import Problem
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.session.session import Session
from workbench.session.tasks import TaskRunner, ignore_failure
from workbench.ui.canvas.layers.canvas_scene import CanvasContent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer

MAX_DIAMETER = 4000  # image pixels
LINES = ("auto", "dark", "bright")

# name: (initial value, minimum, maximum)
RANGES: dict[str, tuple[float, float, float]] = {
    "tolerance": (8.0, 0.5, 100.0),
    "band": (8.0, 0.5, 100.0),
    "smoothing": (0.0, 0.0, 8.0),
    "widest": (9.0, 3.0, 60.0),
    "step": (1.0, 1.0, 50.0),
}
SWITCHES = {
    "tolerance_auto": True,
    "band_auto": True,
    "fill_inside": True,
    "encircle": False,
    "pressure": True,
    "click_visible": False,
    "folder_only": False,
}


class ToolOptions(QObject):
    """Option values by name. `tolerance`, `band`: units of lightness; `smoothing`, `widest`, `step`: pixels."""

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._values: dict[str, float] = {name: initial for name, (initial, _, _) in RANGES.items()}
        self._switches: dict[str, bool] = dict(SWITCHES)
        self.diameter = 15  # of the brush, image pixels; changed by the canvas
        self.line = "auto"  # polarity of the lines traced by the crack tracer: LINES
        self.pen = False  # a pen was used; the pressure option is hidden before that
        self.zone = ""  # that the inspection tool draws; "" for the inspected area itself

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def set(self, name: str, value: float) -> None:
        _, low, high = RANGES[name]
        value = min(max(float(value), low), high)
        if value != self._values[name]:
            self._values[name] = value
            self.changed.emit(name)

    def on(self, name: str) -> bool:
        return self._switches[name]

    def switch(self, name: str, on: bool) -> None:
        if on != self._switches[name]:
            self._switches[name] = on
            self.changed.emit(name)

    def set_line(self, line: str) -> None:
        if line in LINES and line != self.line:
            self.line = line
            self.changed.emit("line")

    def set_zone(self, name: str) -> None:
        if name != self.zone:
            self.zone = name
            self.changed.emit("zone")

    def enable_pen(self) -> None:
        """Offer the options of a pen from now on."""
        if not self.pen:
            self.pen = True
            self.changed.emit("pressure")

    # --- preferences -----------------------------------------------------------------------------

    def restore(self, settings: QSettings) -> None:
        for name in RANGES:
            try:
                self.set(name, float(settings.value(f"tools/{name}", self[name])))
            except (TypeError, ValueError):
                continue  # a damaged preference is ignored
        for name in SWITCHES:
            self.switch(name, str(settings.value(f"tools/{name}", self.on(name))).lower() in ("true", "1"))
        self.set_line(str(settings.value("tools/line", self.line)))

    def save(self, settings: QSettings) -> None:
        for name in RANGES:
            settings.setValue(f"tools/{name}", self[name])
        for name in SWITCHES:
            settings.setValue(f"tools/{name}", self.on(name))
        settings.setValue("tools/line", self.line)


def next_diameter(diameter: int, steps: int) -> int:
    """Return the brush diameter after some steps of about one sixth, at least one pixel each."""
    for _ in range(abs(steps)):
        step = max(1, round(diameter / 6))
        diameter += step if steps > 0 else -step
    return min(max(diameter, 1), MAX_DIAMETER)


# --- access to the image --------------------------------------------------------------------------


Compute = Callable[[], Any]
Deliver = Callable[[Any], None]


class ToolTasks(QObject):
    """Tasks of the tools: `run` delivers every result, `preview` only the newest, both in the GUI thread."""

    changed = Signal(bool)  # True when tasks start, False when all are done
    failed = Signal(object)  # Problem

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskRunner(1, self)  # one thread: the tasks of one gesture are computed in order
        self._running = 0  # number of tasks besides previews

    @property
    def busy(self) -> bool:
        return self._running > 0

    def run(self, compute: Compute, deliver: Deliver) -> None:
        """Compute in a thread, then call `deliver` with the result."""

        def end() -> None:
            self._running -= 1
            if not self._running:
                self.changed.emit(False)

        def on_done(result: Any) -> None:
            end()
            deliver(result)

        def on_failed(problem: Problem) -> None:
            end()
            self.failed.emit(problem)

        self._running += 1
        self.changed.emit(True)
        self._tasks.submit(lambda _: compute(), on_done, on_failed, urgent=True)

    def cancel(self) -> None:
        """Cancel all tasks and previews."""
        self._tasks.cancel()
        if self._running:
            self._running = 0
            self.changed.emit(False)

    def preview(self, compute: Compute, deliver: Deliver) -> None:
        """Compute a preview during a pointer move; skipped if a newer one is requested before its start."""
        # A Problem is ignored: the click that follows reports it.
        self._tasks.submit(lambda _: compute(), deliver, ignore_failure, key="preview", finish_running=True)

    def cancel_preview(self) -> None:
        """Cancel the previews."""
        self._tasks.cancel("preview")

    def finish(self) -> None:
        """Wait for all tasks and deliver their results now."""
        self.cancel_preview()
        if self._running:
            self._tasks.wait()

    def close(self) -> None:
        self.cancel()
        self._tasks.stop()


ERASING = QColor("#ffffff")
DONT_CARE_COLOR = QColor("#c8c8c8")


class ImageContext:
    """Access of interactors to the open image, its classes, and the parts of the canvas."""

    def __init__(
        self,
        *,
        session: Session,
        content: CanvasContent,
        view: ViewState,
        renderer: SceneRenderer,
        options: ToolOptions,
        tasks: ToolTasks,
    ) -> None:
        self._session, self._content = session, content
        self.editor = session.editor
        self.view, self.renderer = view, renderer
        self.options, self.tasks = options, tasks
        self._levels: tuple[np.ndarray, GrayLevels] | None = None

    # --- state -----------------------------------------------------------------------------------

    @property
    def image(self) -> np.ndarray | None:
        """Shown pixels, (H, W) or (H, W, 3)."""
        return self._content.pixels

    @property
    def mask(self) -> np.ndarray | None:
        return self._session.mask

    @property
    def levels(self) -> GrayLevels:
        """Black and white level of the shown image; cached."""
        image = self.image
        assert image is not None
        if self._levels is None or self._levels[0] is not image:
            self._levels = image, levels_of(image)
        return self._levels[1]

    def reset(self) -> None:
        """Drop cached state when another image is shown."""
        self._levels = None

    def contains(self, point: Point) -> bool:
        """Return True if a point lies in the open image."""
        image = self._session.image
        return image is not None and 0 <= point[0] < image.shape[1] and 0 <= point[1] < image.shape[0]

    def refusal(self, *, needs_class: bool = False) -> str:
        """Return the reason the open image cannot be painted on; empty if it can. needs_class: a class is painted."""
        if self._session.mask is None:
            return "no mask"
        if not self._session.writable:
            return "read-only"
        return "no class" if needs_class and self._session.editor.class_id == BACKGROUND else ""

    # --- classes ---------------------------------------------------------------------------------

    @property
    def class_id(self) -> int:
        return self._session.editor.class_id

    @property
    def background_id(self) -> int:
        """Id of unpainted pixels: an edit with this id erases."""
        return self.editor.background_id

    @property
    def color(self) -> QColor:
        return self.color_of(self._session.editor.class_id)

    def color_of(self, id: int) -> QColor:
        project = self._session.project
        for info in project.classes if project else ():
            if info.id == id:
                return QColor(info.color)
        return QColor(DONT_CARE_COLOR if id == DONT_CARE else ERASING)

    def name_of(self, id: int) -> str:
        project = self._session.project
        return next((info.name for info in project.classes if info.id == id), "") if project else ""

    @property
    def classes(self) -> list[tuple[int, str, str]]:
        """(id, name, key) of the paintable classes."""
        project = self._session.project
        return [(info.id, info.name, info.key or "") for info in project.classes] if project else []

    def class_of_key(self, key: int) -> int | None:
        """Return the id of the class chosen by a digit key, or None."""
        digit = str(int(key) - ord("0"))
        return next((id for id, _, own in self.classes if own == digit), None)

    def locked(self, id: int) -> bool:
        return id in self.editor.locked

    def hidden(self, id: int) -> bool:
        return id in self._session.classes.hidden
