"""Question dialog: as high as its texts."""

from __future__ import annotations

from workbench.ui.widgets.question_dialog import Answer, Question


def test_dialog_is_as_high_as_its_texts(qtbot):
    details = ["Labels, and images that were copied into the project, are moved to the trash of the project.", "Done."]
    dialog = Question("Remove", "Remove image.png from the project?", details, [Answer("yes", "Remove", "primary")])
    qtbot.addWidget(dialog)
    dialog.show()
    last, button = dialog.details[-1].geometry(), dialog.buttons["yes"].geometry()
    assert dialog.details[-1].height() < 2 * dialog.fontMetrics().height()
    assert button.top() - last.bottom() < 30
