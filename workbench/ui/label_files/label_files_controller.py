"""Commands that import and export labels, and messages about imports that are undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.core.problems import Problem
from workbench.core.project.file_transaction import FilePass
from workbench.core.project.import_journal import ImportRecord
from workbench.core.project.sources import walk
from workbench.core.text_patterns import fill
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.ui.text.formatting import number, problem_text, translate_message
from workbench.ui.widgets.file_drop import LABEL_SUFFIXES, is_label_file
from workbench.ui.widgets.message_bar import MessageBar
from workbench.ui.widgets.theme import ThemeManager

MAX_SEARCHED = 200_000  # files; a larger folder is not searched for labels without request


class LabelFilesController(QObject):
    """Dialogs for import and export of labels, one at a time."""

    def __init__(self, window: QWidget, session: Session, style: ThemeManager, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._session, self._style, self._messages = window, session, style, messages
        self._tasks = TaskRunner(parent=self)
        job = session.label_import
        job.undone.connect(self._show_undone)
        job.redone.connect(self._show_redone)
        job.recovered.connect(self._show_recovered)
        job.failed.connect(self._show_failure)
        job.progressed.connect(self._show_progress)
        for changed in (job, session.class_merge):
            changed.dropped.connect(self._show_dropped)

    def _show_dropped(self, text: str) -> None:
        self._messages.show_message("info", translate_message(text), topic="changes")

    def import_labels(self) -> None:
        """Show the dialog for an import."""
        self.show_import(None)

    def show_import(self, paths: Path | Sequence[Path] | None, *, images_only: bool = False) -> None:
        """Show the dialog for an import of these labels. images_only: offer to add the images alone."""
        from workbench.ui.label_files.label_file_dialogs import ImportDialog  # keeps the start of the window fast

        dialog = self._window.findChild(ImportDialog)
        if dialog is None:
            chosen = [paths] if isinstance(paths, Path) else paths or ()
            dialog = ImportDialog(self._session, self._style, chosen, images_only=images_only, parent=self._window)
            dialog.images_only_chosen.connect(self._session.add_images)
            dialog.open()
        dialog.raise_()

    def export_labels(self) -> None:
        """Show the dialog for an export."""
        from workbench.ui.label_files.label_file_dialogs import LabelExportDialog  # keeps the start of the window fast

        dialog = self._window.findChild(LabelExportDialog) or LabelExportDialog(self._session, self._window)
        dialog.open()

    def add(self, paths: Sequence[Path], otherwise: Callable[[], object]) -> None:
        """Offer one import if files and folders hold labels, else call `otherwise`."""

        def decide(found: dict[str, int]) -> None:
            if found and self._session.writable:
                self.show_import(paths, images_only=not all(map(is_label_file, paths)))
            else:
                otherwise()

        detect(self._tasks, paths, decide)

    def end(self) -> None:
        self._tasks.stop()

    # --- messages -----------------------------------------------------------------------------------

    def _show_undone(self, result: FilePass) -> None:
        text = fill(self.tr("Import undone: {n} {n:image|images}"), n=number(result.images))
        advice = ""
        if result.kept:
            advice = self.tr(
                "{n} {n:image was kept, because its label has|images were kept, because their labels "
                "have} changed since."
            )
        self._messages.show_message("info", text, fill(advice, n=number(len(result.kept))), topic="import")

    def _show_redone(self, result: FilePass) -> None:
        text = fill(self.tr("Import repeated: {n} {n:image|images}"), n=number(result.images))
        self._messages.show_message("info", text, topic="import")

    def _show_recovered(self, record: ImportRecord) -> None:
        text = fill(self.tr("An interrupted import of {n} {n:label|labels} was completed."), n=number(record.labeled))
        self._messages.show_message("info", text, topic="import")

    def _show_failure(self, problem: Problem) -> None:
        from workbench.ui.label_files.label_file_dialogs import ImportDialog
        from workbench.ui.widgets.dialogs import JobDialog

        merging = any(dialog.job is self._session.label_import for dialog in self._window.findChildren(JobDialog))
        if not merging and self._window.findChild(ImportDialog) is None:  # the dialog shows it otherwise
            text, advice = problem_text(problem)
            self._messages.show_message("problem", text, advice, topic="import")

    def _show_progress(self, done: int, total: int) -> None:
        if self._session.label_import.activity not in ("undoing", "redoing", "recovering"):
            return
        undoing = self._session.label_import.activity == "undoing"
        text = self.tr("Undoing the import: {done} of {total}") if undoing else self.tr("Importing: {done} of {total}")
        text = text.format(done=number(done), total=number(total))
        self._messages.show_message("info", text, topic="import", sticky=True)


def detect(tasks: TaskRunner, paths: Sequence[Path], on_found: Callable[[dict[str, int]], object]) -> None:
    """Find the label formats of files and folders in a worker thread: name -> number of labels; {} without labels.

    Folder names alone are not labels, nor are images that may be masks. An archive is not opened, and neither is a
    single label file.
    """
    from workbench.core.project.formats import recognized
    from workbench.core.project.formats.base import FileTree

    path = paths[0]

    def search(task: Task) -> dict[str, int]:
        if len(paths) == 1 and not path.is_dir():
            suffix = path.suffix.lower()
            return {"zip" if suffix == ".zip" else "file": 0} if suffix in LABEL_SUFFIXES and path.is_file() else {}
        files: list[str] = []
        for folder in paths:
            for relative, _ in walk(folder) if folder.is_dir() else ():
                files.append(relative)
                if task.cancelled() or len(files) > MAX_SEARCHED:
                    return {}
        tree = FileTree.of_paths(paths) if len(paths) > 1 else FileTree(path.absolute(), tuple(sorted(files)))
        return {format.name: count for format, count in recognized(tree) if format.own_files and count}

    tasks.submit(search, on_found, lambda _: on_found({}), key="detect")
