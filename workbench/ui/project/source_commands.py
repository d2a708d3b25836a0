"""Commands for the images of a project: folders, removal, packing and merging. Banner for missing folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.core.project.project import holds_labeled_images
from workbench.core.project.trash import Removal
from workbench.core.text_patterns import fill, free_path
from workbench.ui.services import Services
from workbench.ui.text.formatting import listed, number
from workbench.ui.widgets.dialogs import CANCEL, Answer, Question, Waiting
from workbench.ui.widgets.message_bar import MessageBar

_TOPIC = "sources"
_PATIENCE = 400  # ms until a dialog shows that files are being moved


class SourceCommands(QObject):
    """Image folders, removed images, packing and merging."""

    unpacked = Signal(object)  # path of a project to open

    def __init__(self, window: QWidget, services: Services, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._messages = window, messages
        session = self._session = services.session
        self._preferences = services.preferences
        self._packing = services.packing
        self._missing: tuple[str, ...] = ()
        self._waiting: Waiting | None = None
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE, timeout=self._show_waiting)
        # Queued, as the page of the project is raised over the messages when it is shown.
        session.project_opened.connect(self._show_missing, Qt.ConnectionType.QueuedConnection)
        session.project_closed.connect(self._closed)
        session.sources_changed.connect(self._show_missing)
        session.image_list.listed.connect(self._show_missing)
        session.removal.state_changed.connect(self._moving)
        session.removal.removed.connect(self._removed)
        session.removal.restored.connect(self._restored)
        self._show_missing()

    # --- image folders ---------------------------------------------------------------------------

    def show_sources(self) -> None:
        """Show the dialog with the image folders and the removed images."""
        from workbench.ui.project.transfer_dialogs import SourcesDialog

        dialog = SourcesDialog(self._session, self._window)
        dialog.add_requested.connect(self.add)
        dialog.locate_requested.connect(self.locate)
        dialog.removal_requested.connect(self.remove_source)
        dialog.open()

    def show_inbox(self) -> None:
        """Show the images that a line has kept for labeling."""
        from workbench.ui.images.inbox_dialog import InboxDialog

        InboxDialog(self._session, self._preferences, self._window).open()

    def show_moving_area(self) -> None:
        """Show whether the inspection area of the open image moves with the part, and its limits."""
        from workbench.ui.images.moving_area_dialog import MovingAreaDialog

        MovingAreaDialog(self._session, self._window).open()

    def add(self) -> None:
        """Let the user choose a folder whose images are used where they are."""
        folder = QFileDialog.getExistingDirectory(self._parent(), self.tr("Add image folder"))
        if folder:
            self._session.add_source(folder)

    def locate(self, name: str) -> None:
        """Let the user choose the present folder of a source."""
        project = self._session.project
        if project is None:
            return
        title = self.tr("Locate folder of “{name}”").format(name=name)
        folder = QFileDialog.getExistingDirectory(self._parent(), title, str(project.root.parent))
        if not folder:
            return
        if holds_labeled_images(project, name, Path(folder)):
            self._session.locate_source(name, folder)
            return
        question = Question(
            self.tr("Locate folder"),
            self.tr("None of the labeled images of “{name}” is in this folder.").format(name=name),
            [folder, self.tr("With this folder, their labels have no images.")],
            [Answer("use", self.tr("Use this folder")), Answer(CANCEL, self.tr("Cancel"), "primary")],
            self._parent(),
        )
        question.answered.connect(
            lambda answer: self._session.locate_source(name, folder, check=False) if answer == "use" else None
        )
        question.open()

    def _show_missing(self, *_: object) -> None:
        """Show a banner with the folders that are missing, once for each set of folders."""
        project = self._session.project
        missing = [] if project is None else project.missing_sources()
        names = tuple(source.name for source in missing)
        if names == self._missing:
            return
        self._missing = names
        if project is None or not missing:
            self._messages.withdraw(_TOPIC)
            return
        paths = listed(str(source.folder(project.root)) for source in missing[:3])
        text = self.tr("Image folders that are not available: {paths}").format(paths=paths)
        advice = self.tr("Their images are not listed. All labels are kept.")
        buttons = [(self.tr("Image folders…"), self.show_sources)]
        if self._session.writable:
            buttons.insert(0, (self.tr("Locate folder…"), lambda: self.locate(names[0])))
        self._messages.show_message("warning", text, advice, topic=_TOPIC, buttons=buttons)

    # --- removal ---------------------------------------------------------------------------------

    def remove_images(self, keys: Sequence[str]) -> None:
        """Ask, then remove images with their labels."""
        if not keys or not self._session.writable:
            return
        if len(keys) == 1:
            text = self.tr("Remove {name} from the project?").format(name=keys[0])
        else:
            text = fill(self.tr("Remove {n} {n:image|images} from the project?"), n=number(len(keys)))
        self._ask(text, lambda: self._session.removal.remove_images(keys))

    def remove_source(self, name: str) -> None:
        """Ask, then remove a source with the labels of its images."""
        text = self.tr("Remove the image folder “{name}” from the project?").format(name=name)
        self._ask(text, lambda: self._session.removal.remove_source(name))

    def _ask(self, text: str, remove) -> None:
        details = [
            self.tr("Labels, and images that were copied into the project, are moved to the trash of the project."),
            self.tr("Files outside of the project are not changed. You can undo this."),
        ]
        answers = [Answer("remove", self.tr("Remove"), "primary"), Answer(CANCEL, self.tr("Cancel"))]
        question = Question(self.tr("Remove from project"), text, details, answers, self._parent())
        question.answered.connect(lambda answer: remove() if answer == "remove" else None)
        question.open()

    def _moving(self) -> None:
        if self._session.removal.running:
            self._patience.start()
            return
        self._patience.stop()
        if self._waiting is not None:
            self._waiting.finish()
            self._waiting = None

    def _show_waiting(self) -> None:
        self._waiting = Waiting(self.tr("Remove from project"), self.tr("Moving files…"), self._window)
        self._waiting.cancel.hide()
        self._waiting.open()

    def _removed(self, plan: Removal) -> None:
        if plan.source is not None:
            text = self.tr("Image folder “{name}” removed from the project.").format(name=plan.source.name)
        elif len(plan.keys) == 1:
            text = self.tr("{name} removed from the project.").format(name=plan.keys[0])
        elif plan.keys:
            text = fill(self.tr("{n} {n:image|images} removed from the project."), n=number(len(plan.keys)))
        else:
            text = fill(
                self.tr("{n} label {n:file|files} moved to the trash of the project."), n=number(len(plan.files))
            )
        self._messages.show_message(
            "success", text, button=self.tr("Undo"), callback=self._session.undo, topic="removal"
        )

    def _restored(self, plan: Removal, kept: Sequence[Path]) -> None:
        text = fill(self.tr("{n} {n:image|images} restored."), n=number(len(plan.keys)))
        if not plan.keys:
            text = fill(self.tr("{n} label {n:file|files} restored."), n=number(len(plan.files)))
        advice = ""
        if kept:
            advice = self.tr("Files that exist again were not replaced; the restored copies are in {path}.")
            advice = advice.format(path=kept[0].parent)
        self._messages.show_message("info", text, advice, topic="removal")

    # --- packing and merging ---------------------------------------------------------------------

    def pack(self) -> None:
        """Show the dialog for packing the project into a zip file."""
        from workbench.ui.project.transfer_dialogs import PackDialog

        project = self._session.project
        if project is not None:
            path = free_path(project.root.parent, project.root.name, ".zip")
            PackDialog(self._session, self._packing, path, self._window).open()

    def unpack(self, path: Path | None = None) -> None:
        """Show the dialog for unpacking a project, which is opened afterwards. path: the zip file, if known."""
        from workbench.ui.project.transfer_dialogs import UnpackDialog

        project = self._session.project
        folder = Path.home() if project is None else project.root.parent
        dialog = UnpackDialog(self._packing, path, folder if path is None else path.parent, self._window)
        dialog.unpacked.connect(self.unpacked)
        dialog.open()

    def merge(self) -> None:
        """Show the dialog for merging another project."""
        from workbench.ui.project.transfer_dialogs import MergeDialog

        if self._session.project is not None:
            MergeDialog(self._session, self._window).open()

    # --- events ----------------------------------------------------------------------------------

    def _closed(self) -> None:
        self._missing = ()

    def _parent(self) -> QWidget:
        """Return the dialog that is open, or the window, as the parent of another dialog."""
        from workbench.ui.project.transfer_dialogs import SourcesDialog

        dialog = self._window.findChild(SourcesDialog)
        return dialog if dialog is not None and dialog.isVisible() else self._window
