"""Implementation of the menu commands that need a dialog or several engines.

Recently opened projects: their list, their menu, and the choices for a project that is not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.core.problems import CopyOrMoved, Problem
from workbench.core.project.project import read_project_file
from workbench.core.project.sources import need_trust, project_places
from workbench.core.text_patterns import fill, free_path
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, ThinnedProgress
from workbench.ui.label_files.label_files_controller import LabelFilesController
from workbench.ui.project.leave_guard import LeaveGuard
from workbench.ui.services import Services
from workbench.ui.text.formatting import left_out_text
from workbench.ui.widgets.dialogs import CANCEL, Answer, Question, ask_trust
from workbench.ui.widgets.file_drop import LeftOut, is_label_file
from workbench.ui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.ui.project.new_project_dialog import NewProject, NewProjectDialog, QuickProjectDialog

_MAX_SHOWN = 8
_TOPIC = "recent"


@dataclass(frozen=True)
class RecentProject:
    """Entry of the list. found: its folder holds a project at present."""

    path: Path
    found: bool


class RecentProjects(QObject):
    """List of the recently opened projects, stored in the preferences.

    A project that is not found stays in the list, since a drive may be connected again, until the user removes it. A
    project that was moved replaces its entry when it is opened at its new place.
    """

    open_requested = Signal(object)  # Path
    changed = Signal()

    def __init__(self, window: QWidget, session: Session, preferences: Preferences, messages: MessageBar) -> None:
        super().__init__(window)
        self._window, self._session, self._preferences, self._messages = window, session, preferences, messages
        self.menu = QMenu(self.tr("Open &recent"), window, aboutToShow=self._fill_menu)
        session.project_opened.connect(self._record)
        session.current.opened.connect(self._record)

    def projects(self) -> list[RecentProject]:
        """Return the entries, newest first."""
        paths = map(Path, self._preferences.recent_projects[:_MAX_SHOWN])
        return [RecentProject(path, _is_project(path)) for path in paths]

    def folder(self) -> Path:
        """Return the folder of the newest project that is found, in which new projects are offered; or home."""
        return next((project.path.parent for project in self.projects() if project.found), Path.home())

    def offer_choices(self, path: Path) -> bool:
        """Report that a project of the list is not found, with the choices. Return False for other folders."""
        if str(path) not in self._preferences.recent_projects or _is_project(path):
            return False
        self._messages.show_message(
            "warning",
            self.tr("The project {path} was not found.").format(path=path),
            self.tr("Connect its drive, or locate the folder to which it was moved."),
            topic=_TOPIC,
            buttons=(
                (self.tr("Locate…"), lambda: self.locate(path)),
                (self.tr("Remove from list"), lambda: self.remove(path)),
            ),
        )
        return True

    def locate(self, path: Path) -> None:
        """Let the user choose the folder to which a project was moved, and open it there."""
        start = next((parent for parent in path.parents if parent.is_dir()), Path.home())
        title = self.tr("Locate project {name}").format(name=path.name)
        chosen = QFileDialog.getExistingDirectory(self._window, title, str(start))
        if not chosen:
            return
        folder = Path(chosen)
        try:
            file = read_project_file(folder)
        except Problem as problem:
            self._messages.problem(problem)
            return
        id = self._preferences.project_ids.get(str(path), "")
        if id and file.id != id:
            self._messages.show_message(
                "warning",
                self.tr("{folder} holds another project: {name}.").format(folder=folder, name=file.name),
                self.tr("Choose the folder to which {name} was moved.").format(name=path.name),
                topic=_TOPIC,
            )
            return
        self._preferences.move_project(str(path), str(folder))
        self._save()
        self.open_requested.emit(folder)

    def remove(self, path: Path) -> None:
        """Remove a project from the list. Its folder is not changed."""
        self._preferences.remove_project(str(path))
        self._save()

    def _save(self) -> None:
        self._preferences.save()
        self._messages.withdraw(_TOPIC)
        self.changed.emit()

    def _record(self, image: str | None = None) -> None:
        """Record the open project and its current image; its entry at an earlier place is replaced."""
        project = self._session.project
        if project is None:
            return
        root, id = str(project.root), project.file.id
        for name, other in list(self._preferences.project_ids.items()):
            if other == id and name != root and not _is_project(Path(name)):
                self._preferences.move_project(name, root)
        self._preferences.opened(root, image, id=id)
        if image is None:
            self._messages.withdraw(_TOPIC)
            self._preferences.save()

    def _fill_menu(self) -> None:
        self.menu.clear()
        for project in self.projects():
            text = f"{project.path.name}  ({project.path.parent})"
            if not project.found:
                text = self.tr("{project} – not found").format(project=text)
            action = QAction(text.replace("&", "&&"), self.menu)
            action.triggered.connect(lambda _=False, path=project.path: self.open_requested.emit(path))
            self.menu.addAction(action)
        if self.menu.isEmpty():
            self.menu.addAction(self.tr("No recent projects")).setEnabled(False)


def _is_project(path: Path) -> bool:
    return (path / "project.json").is_file()


class SampleCreator(QObject):
    """Writer of sample projects in a worker thread, one at a time."""

    created = Signal(object)  # Path

    def __init__(self, messages: MessageBar, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._tasks = TaskRunner(1, self)

    def create(self, folder: Path) -> None:
        """Write the sample project into a new folder in `folder`. Does nothing while one is being written."""
        if self._tasks.busy:
            return
        root = free_path(folder, "sample")
        self._show(self.tr("Creating the sample project in {path}…").format(path=root))

        def show_progress(done: int, total: int) -> None:
            text = self.tr("Creating the sample project in {path}: {done} of {total} {total:image|images}")
            self._show(fill(text, path=root, done=done, total=total))

        def work(task: Task) -> Path:
            from workbench.core.sample_project import make_sample

            make_sample(root, progress=ThinnedProgress(task.report)).close()
            return root

        self._tasks.submit(work, self._finish, self._fail, on_progress=show_progress)

    def _show(self, text: str) -> None:
        self._messages.show_message("info", text, topic="sample", sticky=True)

    def end(self) -> None:
        """Wait until the sample project is written."""
        self._tasks.wait()

    def _finish(self, root: Path) -> None:
        self._messages.withdraw("sample")
        self.created.emit(root)

    def _fail(self, problem: Problem) -> None:
        self._messages.withdraw("sample")
        self._messages.problem(problem)


class ProjectCommands(QObject):
    """Commands for projects and images: dialogs, drops."""

    unpack_requested = Signal(object)  # path of a packed project
    created = Signal()  # a project without labels

    def __init__(
        self,
        window: QWidget,
        services: Services,
        messages: MessageBar,
        leave_guard: LeaveGuard,
        label_files: LabelFilesController,
    ) -> None:
        super().__init__(window)
        self._label_files = label_files
        session = self._session = services.session
        self._leave_guard, self._runs, self._adoption = leave_guard, services.run_list, services.adoption
        self._window, self._settings, self._messages = window, services.preferences, messages
        self._sample = SampleCreator(messages, self)
        self._sample.created.connect(self.open)
        self.recent = RecentProjects(window, session, services.preferences, messages)
        self.recent.open_requested.connect(self.open)
        session.image_list.listed.connect(self._open_first)
        session.problem_met.connect(self._ask_identity)

    # --- projects --------------------------------------------------------------------------------

    def new_project(self) -> None:
        self._show_new_project()

    def new_from_folder(self) -> None:
        """Choose a folder of images and make a project of it."""
        folder = QFileDialog.getExistingDirectory(self._window, self.tr("Folder of images"), str(Path.home()))
        if folder:
            self.make_project(Path(folder))

    def make_project(self, folder: Path) -> QuickProjectDialog:
        """Show the dialog that makes a project of a folder of images."""
        from workbench.ui.project.new_project_dialog import QuickProjectDialog

        dialog = QuickProjectDialog(folder, self.projects_folder(), self._window)
        dialog.chosen.connect(self._create)
        dialog.details_requested.connect(lambda folder: self._show_new_project(images=folder))
        dialog.open()
        return dialog

    def import_labels(self) -> None:
        """Show the dialog for an import, or for a new project with the labels if no project is open."""
        if self._session.project is not None:
            self._label_files.import_labels()
        else:
            self._show_new_project().labels.setFocus()

    def _show_new_project(self, *, images: Path | None = None, labels: Path | None = None) -> NewProjectDialog:
        from workbench.ui.project.new_project_dialog import NewProjectDialog

        dialog = NewProjectDialog(self.projects_folder(), self._window)
        dialog.chosen.connect(self._create)
        if labels is not None:
            dialog.set_labels(labels)
        if images is not None:
            dialog.set_images(images)
        dialog.open()
        return dialog

    def _create(self, new: NewProject) -> None:
        def create() -> None:
            created = self._session.create_project(
                new.root, images=new.images, classes=new.classes, verdicts=new.verdicts
            )
            if created and new.labels is not None:
                self._label_files.show_import(new.labels)
            elif created:
                self.created.emit()

        self._leave_guard.leave(create)

    def open_project(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, self.tr("Open project"), str(self.projects_folder()))
        if folder:
            self.open(Path(folder))

    def open(self, root: Path) -> None:
        """Open a project folder.

        For a packed project the dialog for unpacking is shown. If the folder cannot be opened, the open project stays.
        """
        from workbench.core.project.packing import is_packed

        if is_packed(root):
            self.unpack_requested.emit(root)
            return
        try:
            file = read_project_file(root)
        except Problem as problem:
            if not self.recent.offer_choices(root):
                self._messages.problem(problem)
        else:
            ask_trust(
                lambda: need_trust(root, file.id, project_places(root, file.sources)),
                lambda: self._leave_guard.leave(lambda: self._session.open_project(root)),
                self._window,
            )

    def _ask_identity(self, problem: object) -> None:
        """Ask whether a folder is a copy or was moved, then open it. Without an answer nothing is opened or changed."""
        if not isinstance(problem, CopyOrMoved):
            return
        root, other = problem.fields["path"], problem.fields["other"]
        if (Path(other) / "project.json").is_file():
            place = self.tr("Other folder: {path}")
        else:
            place = self.tr("Other folder, not available now: {path}")
        details = [
            self.tr("Opened folder: {path}").format(path=root),
            place.format(path=other),
            self.tr("Copy: this folder becomes a project of its own. The other folder stays as it is."),
            self.tr("Moved: the project continues in this folder."),
        ]
        if problem.fields["why"].id == "identity.unsaved":
            text = self.tr("The last changes in another folder of this project could not be saved there.")
            details[2] = self.tr(
                "Copy: this folder becomes a project of its own. The changes stay with the other folder."
            )
            details[3] = self.tr("Moved: the project continues in this folder, and the changes are saved here.")
        else:
            text = self.tr("This project exists in another folder, too.")
        answers = [  # none is the default, as none can be undone
            Answer(CANCEL, self.tr("Cancel")),
            Answer("moved", self.tr("It was moved")),
            Answer("copy", self.tr("It is a copy")),
        ]

        def answered(answer: str) -> None:
            if answer != CANCEL:
                self._leave_guard.leave(lambda: self._session.open_project(root, identity=answer))

        dialog = Question(self.tr("Copy or moved?"), text, details, answers, self._window)
        dialog.answered.connect(answered)
        dialog.open()

    def close_project(self) -> None:
        self._leave_guard.leave(self._session.close_project)

    def make_sample(self) -> None:
        """Write the sample project into a new folder beside the most recent project, or in the home folder."""
        self._sample.create(self.projects_folder())

    def show_folder(self) -> None:
        if self._session.project is not None:
            self.show_path(self._session.project.root)

    def show_path(self, path: Path) -> None:
        """Show a folder in the system's file browser."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

    def save(self) -> None:
        if self._session.flush():
            self._messages.show_message("success", self.tr("All changes are saved."), topic="save")

    def quit(self) -> None:
        self._window.close()

    # --- images ----------------------------------------------------------------------------------

    def add_images(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in sorted(IMAGE_SUFFIXES))
        files, _ = QFileDialog.getOpenFileNames(
            self._window, self.tr("Add images"), "", self.tr("Images ({patterns})").format(patterns=patterns)
        )
        if files:
            self._session.add_images([Path(file) for file in files])

    def add_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, self.tr("Add folder of images"))
        if folder:
            self._label_files.add([Path(folder)], lambda: self._session.add_images([Path(folder)]))

    def drop(self, paths: list[Path], left_out: LeftOut) -> bool:
        """Open a project that was dropped on the window, or add images and folders, or offer to import labels.

        A single folder, or label files of one folder, make a new project if none is open. Return False if nothing is
        accepted.
        """
        from workbench.core.project.packing import is_packed
        from workbench.core.project.project_json import is_project

        if len(paths) == 1 and (is_project(paths[0]) or is_packed(paths[0])):
            QTimer.singleShot(0, self, lambda: self.open(paths[0]))  # a dialog would block the source program
            return True
        labels = [path for path in paths if is_label_file(path)]
        if self._session.project is None and len(paths) == 1 and paths[0].is_dir() and not left_out:
            QTimer.singleShot(0, self, lambda: self.make_project(paths[0]))
            return True
        if self._session.project is None and labels and len({path.parent for path in paths}) == 1:
            chosen = labels[0] if len(paths) == 1 else labels[0].parent
            QTimer.singleShot(0, self, lambda: self._show_new_project(labels=chosen))
            return True
        if self._session.project is None:
            self._messages.show_message(
                "info",
                self.tr("Open or create a project first, then drop the images again."),
                self.tr("Drop a single folder to create a new project."),
                topic="drop",
            )
            return False
        if (labels or any(path.is_dir() for path in paths)) and self._session.writable:
            self._label_files.add(paths, lambda: self._session.add_images(paths, left_out))
            return True
        return self._session.add_images(paths, left_out)

    def refuse_drop(self, left_out: LeftOut) -> None:
        """Show why nothing of a drag over the window can be dropped."""
        advice = self.tr("Drop images, a folder of images, labels of another tool, or a project.")
        self._messages.show_message("warning", left_out_text(left_out), advice, topic="drop")

    def predict_folder(self) -> None:
        """Show the dialog for predicting a folder. There is at most one, since it works as long as it is open."""
        from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog
        from workbench.ui.text.run_texts import model_names

        dialog = self._window.findChild(PredictFolderDialog)
        if dialog is None:
            dialog = PredictFolderDialog(model_names(self._runs), self._window)

            def follow(dialog: PredictFolderDialog = dialog) -> None:
                dialog.show_models(model_names(self._runs))

            self._runs.listed.connect(follow)
            dialog.destroyed.connect(lambda: self._runs.listed.disconnect(follow))
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def add_model(self) -> None:
        """Show the dialog for adding a model that was trained by another program."""
        from workbench.ui.training.model_dialogs import AdoptionDialog

        if self._session.writable:
            AdoptionDialog(self._session, self._adoption, self._window).open()

    # --- help ------------------------------------------------------------------------------------

    def show_gpu_check(self) -> None:
        from workbench.ui.project.help_dialogs import GpuCheckDialog

        GpuCheckDialog(self._window).open()

    def show_about(self) -> None:
        from workbench.ui.project.help_dialogs import AboutDialog

        AboutDialog(self._window).open()

    # --- events ----------------------------------------------------------------------------------

    def _open_first(self, keys: list[str]) -> None:
        """Open the last current image of this project, or the first image."""
        project = self._session.project
        if project is not None and keys and self._session.key is None and self._session.opening is None:
            last = self._settings.last_pictures.get(str(project.root))
            self._session.open_image(last if last in self._session.rows or last in keys else keys[0])

    def projects_folder(self) -> Path:
        """Return the folder in which new projects are offered."""
        return self.recent.folder()

    def end(self) -> None:
        from workbench.ui.predictions.predict_folder_dialog import PredictFolderDialog

        for dialog in self._window.findChildren(PredictFolderDialog):
            dialog.close()
        self._sample.end()
