"""Inbox: images that a line has kept for labeling, seen with their predictions, and taken into the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QDialog, QLabel, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from workbench.core.images.display import automatic
from workbench.core.suggestions.line_images import LineImage, Taken, known_marks, read_kept, take
from workbench.core.text_patterns import fill
from workbench.inference.io.image_io import ReadError, read_image
from workbench.inference.io.opencv import cv2
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.ui.text.formatting import number, translate_message
from workbench.ui.text.image_texts import shown_verdict
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.dialogs import PathField
from workbench.ui.widgets.item_views import show_as_rows
from workbench.ui.widgets.text_labels import resize_for_text, set_disabled_reason

_SIDE = 360  # px, of the preview
_MARK = (255, 170, 0)  # color of predicted regions
Listed = tuple[list[LineImage], list[tuple[str, str]], set[str]]


class InboxDialog(QDialog):
    """Images of a folder of `serve --inbox` or `predict --watch --inbox`, the newest first."""

    def __init__(self, session: Session, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session, self._preferences = session, preferences
        self._tasks = TaskRunner(1, self)
        self._images: list[LineImage] = []
        self._known: set[str] = set()
        self._last: list[str] = []  # sentences on the last images taken
        self._first = ""  # key of the first image taken, which is opened when the dialog is closed
        self.setWindowTitle(self.tr("Inbox"))
        resize_for_text(self, 980, 560)
        stored = Path(preferences.inbox) if preferences.inbox else None
        title = self.tr("Folder of --inbox")
        self.folder = PathField(title, "folder", stored, placeholder=title)
        self.folder.line.textChanged.connect(self.load)
        self.table = QTableWidget(0, 4)
        titles = (self.tr("Time"), self.tr("Name"), self.tr("Verdict"), self.tr("Kept because"))
        self.table.setHorizontalHeaderLabels(titles)
        show_as_rows(self.table, self.tr("Kept images"), stretch=1)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.horizontalHeader().resizeSection(0, 170)
        self.table.horizontalHeader().resizeSection(3, 130)
        self.table.itemSelectionChanged.connect(self._selected)
        self.preview = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.preview.setFixedSize(_SIDE, _SIDE)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText, objectName="muted")
        self.suggest = QPushButton(self.tr("Take as suggestions"), objectName="primary", autoDefault=False)
        self.suggest.setToolTip(self.tr("The predicted regions become suggestions, to be corrected and accepted"))
        self.accept_button = QPushButton(self.tr("Accept predictions"), autoDefault=False)
        self.accept_button.setToolTip(self.tr("The predictions become the labels of the images"))
        self.suggest.clicked.connect(self._take)
        self.accept_button.clicked.connect(self._accept)
        close = QPushButton(self.tr("Close"), autoDefault=False, clicked=self.reject)
        hint = self.tr("Images that the server or a watched folder keeps with --inbox. No image is taken twice.")
        in_column(
            QLabel(hint, objectName="muted", wordWrap=True),
            self.folder,
            (in_row((self.table, 1), self.preview, spacing=12), 1),
            self.status,
            in_row(self.suggest, self.accept_button, 1, close, spacing=8),
            owner=self,
            margins=(22, 18, 22, 16),
            spacing=10,
        )
        session.project_closed.connect(self.reject)
        self.load()

    def done(self, result: int) -> None:
        self._tasks.stop()
        super().done(result)
        if self._first and self._session.project is not None:
            self._session.open_image(self._first)

    # --- list -------------------------------------------------------------------------------------

    def load(self, *_: object) -> None:
        """List the folder in a thread: it may be on a slow drive."""
        folder, project = self.folder.path, self._session.project
        if project is None or folder is None or not folder.is_dir():
            self._show(([], [], set()))
            return
        self._preferences.inbox = str(folder)

        def work(_: Task) -> Listed:
            return *read_kept(folder), known_marks(project)

        self._tasks.submit(work, self._show, self._session.problem_met.emit, key="list")

    def _show(self, listed: Listed) -> None:
        self._images, broken, self._known = listed
        kept = {
            "NG": self.tr("NG"),
            "unsure": shown_verdict("unsure"),
            "unlike": self.tr("unlike the training"),
            "sample": self.tr("sample"),
        }
        self.table.setRowCount(len(self._images))
        for row, image in enumerate(self._images):
            taken = image.mark in self._known
            reason = self.tr("in the project") if taken else kept.get(str(image.record.get("kept")), "")
            time = str(image.record.get("time", "")).replace("T", " ")[:19]
            verdict = shown_verdict(str(image.record.get("verdict") or image.record.get("result") or ""))
            texts = (time, image.record.get("name"), verdict, reason)
            for column, text in enumerate(texts):
                item = QTableWidgetItem(str(text or ""))
                item.setToolTip(item.text())
                self.table.setItem(row, column, item)
        new = sum(image.mark not in self._known for image in self._images)
        lines = [fill(self.tr("{n} {n:image|images}, {new} not in the project"), n=len(self._images), new=number(new))]
        lines += [*self._last, *(f"{name}: {translate_message(why)}" for name, why in broken[:3])]
        nothing = self.tr("No image is kept in this folder.") if self.folder.path else ""
        self.status.setText("\n".join(lines) if self._images or broken else nothing)
        if new and not self.table.selectedItems():
            self.table.selectRow(next(n for n, image in enumerate(self._images) if image.mark not in self._known))
        self._selected()

    @property
    def selection(self) -> list[LineImage]:
        """Selected images that the project does not have."""
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        return [self._images[row] for row in rows if self._images[row].mark not in self._known]

    def _selected(self) -> None:
        why = "" if self.selection else self.tr("Select images that are not in the project")
        why = why if self._session.writable else self.tr("The project is read-only")
        for button in (self.suggest, self.accept_button):
            set_disabled_reason(button, why)
        row = self.table.currentRow()
        if not 0 <= row < len(self._images):
            self.preview.clear()
            return
        image = self._images[row]
        self._tasks.submit(
            lambda _: preview(image.path, image.mask_path), self._show_preview, ignore_failure, key="preview"
        )

    def _show_preview(self, pixels: np.ndarray | None) -> None:
        if pixels is None:
            self.preview.clear()
            return
        self.preview.setPixmap(pixmap(pixels))

    # --- taking -----------------------------------------------------------------------------------

    def _take(self) -> None:
        self._start(self.selection, accept=False)

    def _accept(self) -> None:
        self._start(self.selection, accept=True)

    def _start(self, images: Sequence[LineImage], *, accept: bool) -> None:
        project = self._session.project
        if project is None or not images or not self._session.flush():
            return
        for button in (self.suggest, self.accept_button):
            button.setEnabled(False)

        def work(task: Task) -> Taken:
            return take(project, images, accept=accept, cancelled=task.cancelled)

        self._tasks.submit(work, self._taken, self._session.problem_met.emit, key="take")

    def _taken(self, taken: Taken) -> None:
        text = self.tr("{n} {n:image is|images are} taken, below inbox/ in the image list")
        self._last = [fill(text, n=len(taken.keys))] if taken.keys else []
        self._last += [f"{name}: {translate_message(why)}" for name, why in taken.skipped[:3]]
        self._first = self._first or next(iter(taken.keys), "")
        self._session.reload()
        self.load()


def pixmap(pixels: np.ndarray) -> QPixmap:
    """Return an RGB image, uint8, for a label."""
    height, width = pixels.shape[:2]
    return QPixmap.fromImage(QImage(pixels.data, width, height, pixels.strides[0], QImage.Format.Format_RGB888).copy())


def preview(path: Path, mask_path: Path | None, side: int = _SIDE) -> np.ndarray | None:
    """Return an image with its predicted regions outlined, RGB uint8 within `side`; None if it cannot be read.

    Its values are shown as on the canvas before its display is changed.
    """
    try:
        pixels = read_image(path)
        mask = read_image(mask_path) if mask_path is not None and mask_path.exists() else None
    except (ReadError, OSError):
        return None
    pixels = automatic(pixels).apply(pixels)
    scale = min(4.0, side / max(pixels.shape[:2]))
    size = max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale))
    shown = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST)
    shown = cv2.cvtColor(shown, cv2.COLOR_GRAY2RGB) if shown.ndim == 2 else np.ascontiguousarray(shown)
    if mask is not None and mask.shape == pixels.shape[:2]:
        small = cv2.resize((mask > 0).view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        outlines, _ = cv2.findContours(small, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(shown, outlines, -1, _MARK, 1)
    return shown
