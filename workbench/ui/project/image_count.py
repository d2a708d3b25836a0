"""Number of images in a folder that was chosen for a new project."""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLabel

from workbench.core.images.image_files import IMAGE_SUFFIXES
from workbench.core.project.sources import walk
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.ui.text.formatting import number

_MAX_COUNTED = 100_000  # images
_REPORT_EVERY = 500  # images


class ImageCount(QLabel):
    """Number of images in a folder, counted in a worker thread. Hidden until it is known."""

    def __init__(self) -> None:
        super().__init__(objectName="muted")
        self._tasks = TaskRunner(parent=self)
        self.hide()

    def show_folder(self, folder: Path | None) -> None:
        """Count the images of a folder; None, or a folder that does not exist: show nothing."""
        self._tasks.cancel()
        self.hide()
        if folder is not None and folder.is_dir():
            count = partial(count_images, folder)
            self._tasks.submit(count, self._show_count, ignore_failure, on_progress=self._show_count)

    def stop(self) -> None:
        self._tasks.stop()

    def _show_count(self, count: int) -> None:
        self.setText(image_count_text(count))
        self.show()


def count_images(folder: Path, task: Task) -> int:
    """Count the images in a folder and its subfolders, in a worker thread; at most 100,000."""
    count = 0
    for path, _ in walk(folder):
        if task.cancelled() or count >= _MAX_COUNTED:
            break
        if PurePosixPath(path).suffix.lower() in IMAGE_SUFFIXES:
            count += 1
            if count % _REPORT_EVERY == 0:
                task.report(count)
    return count


def image_count_text(count: int) -> str:
    """Return the text of a number of images in a folder; "100,000+" if counting ended there."""
    if count == 0:
        return QCoreApplication.translate(
            "QuickProjectDialog", "This folder contains no images. Images can be added later."
        )
    if count == 1:
        return QCoreApplication.translate("QuickProjectDialog", "1 image")
    return QCoreApplication.translate("QuickProjectDialog", "{n} images").format(
        n=number(count) + ("+" if count >= _MAX_COUNTED else "")
    )
