"""Question whether a project or data set may read images from outside of its folder, asked before anything is read."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from workbench.core.problems import UntrustedPlaces
from workbench.core.project.source_trust import trust_named
from workbench.ui.widgets.question_dialog import CANCEL, Answer, Question


def ask_trust(check: Callable[[], object], then: Callable[[], object], parent: QWidget) -> None:
    """Call `then`; if `check` raises UntrustedPlaces, not before the user has allowed them."""
    try:
        check()
    except UntrustedPlaces as problem:
        SourceQuestion(problem, then, parent).open()
    else:
        then()


class SourceQuestion(Question):
    """Question with the list of the places. then: called after they were allowed."""

    def __init__(self, problem: UntrustedPlaces, then: Callable[[], object], parent: QWidget) -> None:
        path, places = problem.fields["path"], problem.fields["places"]
        trusted = self.tr(
            "Nothing has been read from there. Allow it if you know these folders, or trust who made this."
        )
        remote = self.tr("An address with two slashes is another computer, which learns your user name.")
        super().__init__(
            self.tr("Images outside of the folder"),
            self.tr("{path} reads images from outside of its folder. Allow this?").format(path=path),
            [places, trusted, remote if "//" in places or "\\\\" in places else ""],
            [Answer("allow", self.tr("Allow")), Answer(CANCEL, self.tr("Cancel"), "primary")],
            parent,
        )

        def answer(name: str) -> None:
            if name == "allow":
                trust_named(problem)
                then()

        self.answered.connect(answer)
