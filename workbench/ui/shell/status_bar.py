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
from workbench.core.text_patterns import fill
from workbench.inference.io.tiff_regions import TiffImage
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.text import formatting

_UPDATE_INTERVAL = 40  # ms while the pointer moves: each update repeats the layout of the whole bar
_REST_TIME = 120  # ms that the pointer rests before the region under it is measured
_MAX_AREA = 4 << 20  # px: larger regions are not measured completely


class StatusBar(QStatusBar):
    """Status bar of the session and the canvas."""

    def __init__(self, session: Session, canvas: Canvas, run: Callable[[], Run | None]) -> None:
        """Create the bar. run: returns the run used for prediction, or None."""
        super().__init__()
        self._run = run
        self._minimum: tuple[str, int] | None = None  # name of a run, smallest area in px that its model detects
        self._pixel: tuple[int, int] | None = None
        self._update_timer = QTimer(self, singleShot=True, interval=_UPDATE_INTERVAL, timeout=self._show_pixel)
        self._pending = False
        self._rest_timer = QTimer(self, singleShot=True, interval=_REST_TIME, timeout=self._measure)
        self._tasks = TaskRunner(parent=self)  # measuring a region with many small holes is slow
        self._session, self._canvas = session, canvas
        self.setSizeGripEnabled(False)
        self.save_state, self.progress_label, self.progress = (
            QLabel(objectName="plain"),
            QLabel(objectName="muted"),
            QProgressBar(textVisible=False),
        )
        self.progress.setFixedWidth(120)
        self.step, self.region = QLabel(objectName="muted"), QLabel(objectName="muted")
        self.pixel, self.brush, self.zoom = (QLabel(objectName="muted") for _ in range(3))
        for widget in (self.save_state, self.progress_label, self.progress):
            self.addWidget(widget)
        for widget in (self.step, self.region, self.pixel, self.brush, self.zoom):
            self.addPermanentWidget(widget)
        session.project_opened.connect(self._save_state)
        session.project_closed.connect(self._save_state)
        session.autosave.state_changed.connect(self._save_state)
        session.image_list.progressed.connect(self._show_index_progress)
        session.project_closed.connect(self._show_index_progress)
        session.current.opened.connect(self._zoomed)
        canvas.hovered.connect(self._hover)
        canvas.view_state.changed.connect(self._zoomed)
        canvas.brush_changed.connect(self._brush_changed)
        canvas.tool_changed.connect(self._brush_changed)
        session.current.opened.connect(self._brush_changed)
        session.project_closed.connect(self._brush_changed)
        canvas.scene.image_changed.connect(self._image_changed)
        self._save_state()
        self._show_index_progress()
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
                "failed": self.tr("Not saved. Retrying…"),
            }[session.autosave.state]
        self.save_state.setText(text)

    def _show_index_progress(self, done: int = 1, total: int = 1) -> None:
        busy = done < total
        self.progress_label.setVisible(busy)
        self.progress.setVisible(busy)
        self.progress.setMaximum(max(total, 1))
        self.progress.setValue(done)
        self.progress_label.setText(fill(self.tr("Reading {total} {total:image|images}…"), total=total))

    def _hover(self, pixel: tuple[int, int] | None) -> None:
        if pixel != self._pixel:
            self._pixel = pixel
            if self.region.text():
                self.region.setText("")
            self._rest_timer.start()
        self._pending = True
        if not self._update_timer.isActive():
            self._show_pixel()

    def _show_pixel(self) -> None:
        if not self._pending:
            return
        self._pending = False
        self._update_timer.start()
        image, pixel = self._canvas.content.pixels, self._pixel
        if pixel is None or image is None or not (0 <= pixel[0] < image.shape[1] and 0 <= pixel[1] < image.shape[0]):
            self.pixel.setText("")
            return
        x, y = pixel
        # A very large image is not decoded only because the pointer moves over it.
        value = image.peek(y, x) if isinstance(image, TiffImage) else image[y, x]
        if image.ndim == 3:
            color = self.tr("{x}, {y}   RGB {value}").format(x=x, y=y, value=" ".join(f"{v:g}" for v in value))
        else:
            color = self.tr("{x}, {y}   gray {value}").format(x=x, y=y, value=f"{value:g}")
        texts = [color, self._class_at(x, y)]
        project = self._session.project
        scale = project.file.um_per_pixel if project else None
        if scale is not None:
            texts.insert(1, formatting.position_text(x, y, scale))
        self.pixel.setText("   ".join(filter(None, texts)))

    def _image_changed(self) -> None:
        damaged = self._canvas.scene.damaged
        self.step.setText(
            fill(self.tr("⚠ {n} {n:part of the file is|parts of the file are} damaged"), n=damaged) if damaged else ""
        )

    def show_step(self, number: int, count: int) -> None:
        """Show the number of the current region and the count."""
        if not count:
            self.step.setText(self.tr("No regions in this image"))
        else:
            self.step.setText(self.tr("Region {number} of {count}").format(number=number, count=count))

    def _measure(self) -> None:
        """Show the area of the region under the pointer, with a warning if it is too small for the model."""
        mask, project = self._session.mask, self._session.project
        if self._pixel is None or mask is None or project is None:
            return
        pixel = x, y = self._pixel
        inside = 0 <= x < mask.shape[1] and 0 <= y < mask.shape[0]
        if not inside or mask[y, x] in (BACKGROUND, DONT_CARE, NOT_LABELED):
            return

        def work(_: Task) -> tuple[int, bool]:
            region = region_at(mask, (x + 0.5, y + 0.5), limit=_MAX_AREA)
            return int(np.count_nonzero(region.inside)), region.cut

        def on_done(measured: tuple[int, bool]) -> None:
            if self._pixel == pixel and self._session.mask is mask:
                self._show_area(*measured)

        self._tasks.submit(work, on_done, key="measure")

    def _show_area(self, area: int, cut: bool) -> None:
        project = self._session.project
        text = formatting.area(area, project.file.um_per_pixel if project else None)
        if cut:
            text = self.tr("more than {area}").format(area=text)
        minimum = self._minimum_area()
        if area < minimum:
            text += "   " + self.tr(
                "⚠ smaller than the minimum area ({n} px²); predictions of this size are dropped"
            ).format(n=minimum)
        self.region.setText(text)

    def end(self) -> None:
        """Drop queued measurements and wait for the running one."""
        self._tasks.stop()

    def _minimum_area(self) -> int:
        run = self._run()
        if run is None:
            return 0
        if self._minimum is None or self._minimum[0] != run.name:
            try:
                settings = run.settings()
                self._minimum = run.name, smallest_detectable_area(settings) if settings.model == "unet" else 0
            except Problem:
                self._minimum = run.name, 0
        return self._minimum[1]

    def _class_at(self, x: int, y: int) -> str:
        mask, project = self._session.mask, self._session.project
        if mask is None or project is None:
            return ""
        id = int(mask[y, x])
        names = {info.id: info.name for info in project.classes}
        names |= {0: "", DONT_CARE: self.tr("ignored"), NOT_LABELED: self.tr("unlabeled")}
        return names.get(id, str(id))

    def _zoomed(self, *_: object) -> None:
        has_image = self._session.image is not None
        self.zoom.setText(
            formatting.percent(self._canvas.view.scale, 0 if self._canvas.view.scale >= 0.1 else 1) if has_image else ""
        )

    def _brush_changed(self, *_: object) -> None:
        has_image = self._session.image is not None and self._canvas.tool in ("brush", "eraser")
        self.brush.setText(self.tr("Brush {n} px").format(n=self._canvas.diameter) if has_image else "")
