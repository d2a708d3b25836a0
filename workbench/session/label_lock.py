"""Lock of labels that are open while a job rewrites the label files."""

from __future__ import annotations

from workbench.core.problems import Problem
from workbench.session.editor import Editor
from workbench.session.label import Label


class LabelLock:
    """Labels that cannot be edited at the moment. problem: the reason that each has meanwhile."""

    def __init__(self, editor: Editor, problem: Problem) -> None:
        self._editor, self._problem = editor, problem
        self._locked: list[tuple[Label, Problem | None]] = []  # with their own problems

    def lock(self) -> None:
        """Lock the label of the open image."""
        label = self._editor.label
        if label is not None and label.problem is not self._problem:
            self._locked.append((label, label.problem))
            label.problem = self._problem

    def release(self) -> None:
        """Release all labels."""
        for label, problem in self._locked:
            label.problem = problem
        self._locked.clear()
