"""Projects with an evaluation, opened in the window."""

from __future__ import annotations

from PySide6.QtCore import Qt

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def open_project(application, run, qtbot):
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=20_000):
        session.open_project(run.project_root)
    qtbot.waitUntil(lambda: bool(application.services.run_list.usable()), timeout=20_000)
    return application.window


def choose_rule(panel, by: str) -> None:
    """Choose a kind of verdict rule in its panel."""
    panel.rule.setCurrentIndex(panel.rule.findData(by))
    panel.rule.activated.emit(panel.rule.currentIndex())
