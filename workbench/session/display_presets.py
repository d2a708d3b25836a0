"""Display presets, reference image and scale of the open project."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from workbench.core.images.display import Display
from workbench.core.problems import Problem
from workbench.core.project.display_file import DisplayFile, load_displays, save_displays
from workbench.session.session import Session


class DisplayPresets(QObject):
    """Display presets, reference image and scale. A file that cannot be read is reported once and never overwritten."""

    changed = Signal()
    scale_changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._content = DisplayFile()
        self._broken: Problem | None = None
        session.project_opened.connect(self._load)
        session.project_closed.connect(self._load)
        session.classes_changed.connect(self.scale_changed)  # another program may have changed project.json

    @property
    def presets(self) -> dict[str, Display]:
        return dict(self._content.presets)

    @property
    def writable(self) -> bool:
        return self._session.writable and self._broken is None

    @property
    def good_sample(self) -> str | None:
        """Key of the reference image, which others are compared with."""
        return self._content.good_sample

    @property
    def um_per_pixel(self) -> float | None:
        return self._session.project.file.um_per_pixel if self._session.project else None

    def save_preset(self, name: str, display: Display) -> bool:
        """Save a display under a name, replacing one of the same name."""
        name = name.strip()[:60]
        return bool(name) and self._change(lambda content: content.presets.update({name: display}))

    def delete_preset(self, name: str) -> bool:
        return self._change(lambda content: content.presets.pop(name, None))

    def set_good_sample(self, key: str | None) -> bool:
        def choose(content: DisplayFile) -> None:
            content.good_sample = key

        return self._change(choose)

    def set_scale(self, um_per_pixel: float | None) -> bool:
        """Set the size of a pixel in micrometers, in project.json."""
        project = self._session.project
        if project is None:
            return False
        former, project.file.um_per_pixel = project.file.um_per_pixel, um_per_pixel
        try:
            project.save()
        except Problem as problem:
            project.file.um_per_pixel = former
            self._session.problem_met.emit(problem)
            return False
        self.scale_changed.emit()
        return True

    def _change(self, change: Callable[[DisplayFile], object]) -> bool:
        project = self._session.project
        if project is None:
            return False
        content = self._content.model_copy(deep=True)
        change(content)
        try:
            if self._broken is not None:
                raise self._broken
            save_displays(project, content)
        except Problem as problem:
            self._session.problem_met.emit(problem)
            return False
        self._content = content
        self.changed.emit()
        return True

    def _load(self) -> None:
        self._content, self._broken = DisplayFile(), None
        if self._session.project is not None:
            try:
                self._content = load_displays(self._session.project)
            except Problem as problem:
                self._broken = problem
                self._session.problem_met.emit(problem)
        self.changed.emit()
        self.scale_changed.emit()
