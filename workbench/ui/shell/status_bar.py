"""Status bar: save state, pixel and region under the pointer, brush size, zoom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar

from workbench.core.geometry.selection import region_at
from workbench.core.problems import Problem
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED
from workbench.core.runs.network_stats import smallest_detectable_area
from workbench.core.runs.run import Run
from workbench.inference.io.tiff_regions import TiffImage
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.text import formatting

_OFTEN = 40  # ms between two updates while the pointer moves: each one repeats the layout of the whole bar
_RESTED = 120  # ms that the pointer rests before the region under it is measured
_MEASURED = 4 << 20  # px, area within which a region is followed


class StatusBar(QStatusBar):
    """Status bar of the session and the canvas."""

    def __init__(self, session: Session, canvas: Canvas, run: Callable[[], Run | None]) -> None:
        """Create the bar. run: returns the run used for prediction, or None."""
        super().__init__()
        self._run = run
        self._sight: tuple[str, int] | None = None  # name of a run, and the smallest area in px that its model detects
        self._spot: tuple[int, int] | None = None
        self._read = QTimer(self, singleShot=True, interval=_OFTEN, timeout=self._read_spot)
        self._due = False
        self._rest = QTimer(self, singleShot=True, interval=_RESTED, timeout=self._measure)
        self._measuring = TaskRunner(parent=self)  # measuring a region with many small holes is slow
        self._session, self._canvas = session, canvas
        self.setSizeGripEnabled(False)
        self.saved, self.reading, self.bar = (
            QLabel(objectName="plain"),
            QLabel(objectName="muted"),
            QProgressBar(textVisible=False),
        )
        self.bar.setFixedWidth(120)
        self.step, self.region = QLabel(objectName="muted"), QLabel(objectName="muted")
        self.spot, self.brush, self.zoom = (QLabel(objectName="muted") for _ in range(3))
        for widget in (self.saved, self.reading, self.bar):
            self.addWidget(widget)
        for widget in (self.step, self.region, self.spot, self.brush, self.zoom):
            self.addPermanentWidget(widget)
        session.project_opened.connect(self._save_state)
        session.project_closed.connect(self._save_state)
        session.save_state_changed.connect(self._save_state)
        session.index_progress.connect(self._index)
        session.image_opened.connect(self._zoomed)
        canvas.hovered.connect(self._hover)
        canvas.view_state.changed.connect(self._zoomed)
        canvas.brush_changed.connect(self._brush_changed)
        canvas.tool_changed.connect(self._brush_changed)
        session.image_opened.connect(self._brush_changed)
        session.project_closed.connect(self._brush_changed)
        canvas.scene.image_changed.connect(self._image_changed)
        self._save_state()
        self._index(1, 1)
        self._zoomed()
        self._brush_changed()

    def _save_state(self, *_: object) -> None:
        session = self._session
        if session.project is None:
            text = ""
        elif not session.writable:
            text = self.tr("Read-only")
        else:
            text = {
                "saved": self.tr("All saved"),
                "dirty": self.tr("Saving…"),
                "failed": self.tr("Not saved, trying again"),
            }[session.save_state]
        self.saved.setText(text)

    def _index(self, done: int, total: int) -> None:
        busy = done < total
        self.reading.setVisible(busy)
        self.bar.setVisible(busy)
        self.bar.setMaximum(max(total, 1))
        self.bar.setValue(done)
        self.reading.setText(self.tr("Looking through {total} pictures").format(total=total))

    def _hover(self, spot: tuple[int, int] | None) -> None:
        if spot != self._spot:
            self._spot = spot
            if self.region.text():
                self.region.setText("")
            self._rest.start()
        self._due = True
        if not self._read.isActive():
            self._read_spot()

    def _read_spot(self) -> None:
        if not self._due:
            return
        self._due = False
        self._read.start()
        image, spot = self._canvas.content.pixels, self._spot
        if spot is None or image is None:
            self.spot.setText("")
            return
        x, y = spot
        if not (0 <= x < image.shape[1] and 0 <= y < image.shape[0]):
            self.spot.setText(f"{x}, {y}")
            return
        # A very large image is not decoded only because the pointer moves over it.
        value = image.peek(y, x) if isinstance(image, TiffImage) else image[y, x]
        gray = " ".join(f"{v:g}" for v in value) if image.ndim == 3 else f"{value:g}"
        told = [self.tr("{x}, {y}   grey {value}").format(x=x, y=y, value=gray), self._class_at(x, y)]
        project = self._session.project
        scale = project.file.um_per_pixel if project else None
        if scale is not None:
            told.insert(1, formatting.place(x, y, scale))
        self.spot.setText("   ".join(filter(None, told)))

    def _image_changed(self) -> None:
        damaged = self._canvas.scene.damaged
        self.step.setText(self.tr("⚠ {n} parts of the file are damaged").format(n=damaged) if damaged else "")

    def show_step(self, number: int, count: int) -> None:
        """Show the number of the current region and the count."""
        if not count:
            self.step.setText(self.tr("No region here"))
        else:
            self.step.setText(self.tr("Region {number} of {count}").format(number=number, count=count))

    def _measure(self) -> None:
        """Show the area of the region under the pointer, with a warning if it is too small for the model."""
        mask, project = self._session.mask, self._session.project
        if self._spot is None or mask is None or project is None:
            return
        spot = x, y = self._spot
        inside = 0 <= x < mask.shape[1] and 0 <= y < mask.shape[0]
        if not inside or mask[y, x] in (BACKGROUND, DONT_CARE, NOT_LABELED):
            return

        def work(_: Task) -> tuple[int, bool]:
            region = region_at(mask, (x + 0.5, y + 0.5), limit=_MEASURED)
            return int(np.count_nonzero(region.inside)), region.cut

        def on_done(measured: tuple[int, bool]) -> None:
            if self._spot == spot and self._session.mask is mask:
                self._show_area(*measured)

        self._measuring.submit(work, on_done, key="measure")

    def _show_area(self, area: int, cut: bool) -> None:
        project = self._session.project
        text = formatting.area(area, project.file.um_per_pixel if project else None)
        if cut:
            text = self.tr("more than {area}").format(area=text)
        least = self._least_area()
        if area < least:
            text += "   " + self.tr(
                "⚠ smaller than the minimum area ({n} px²); predictions of this size are dropped"
            ).format(n=least)
        self.region.setText(text)

    def end(self) -> None:
        """Drop queued measurements and wait for the running one."""
        self._measuring.stop()

    def _least_area(self) -> int:
        run = self._run()
        if run is None:
            return 0
        if self._sight is None or self._sight[0] != run.name:
            try:
                settings = run.settings()
                self._sight = run.name, smallest_detectable_area(settings) if settings.model == "unet" else 0
            except Problem:
                self._sight = run.name, 0
        return self._sight[1]

    def _class_at(self, x: int, y: int) -> str:
        mask, project = self._session.mask, self._session.project
        if mask is None or project is None:
            return ""
        id = int(mask[y, x])
        names = {info.id: info.name for info in project.classes}
        names |= {0: "", DONT_CARE: self.tr("don't care"), NOT_LABELED: self.tr("not labelled")}
        return names.get(id, str(id))

    def _zoomed(self, *_: object) -> None:
        shown = self._session.image is not None
        self.zoom.setText(
            formatting.percent(self._canvas.view.scale, 0 if self._canvas.view.scale >= 0.1 else 1) if shown else ""
        )

    def _brush_changed(self, *_: object) -> None:
        shown = self._session.image is not None and self._canvas.tool in ("brush", "eraser")
        self.brush.setText(self.tr("Brush {n} px").format(n=self._canvas.diameter) if shown else "")
