"""Dialog of the rule by which images are assigned to parts: preview, storing, link in the evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.session.mask_run import make_mask_project
from tests.ui.evaluation.evaluation_windows import open_project
from workbench.core.project import annotation
from workbench.core.project.project import Grouping, Project
from workbench.core.project_statistics import NAME_PATTERNS, preview_parts
from workbench.inference.io.image_io import write_png
from workbench.ui.check.statistics_dialog import PartRuleDialog

NAMES = [f"lot{lot}/p{part}_{side}.png" for lot in (0, 1) for part in (1, 2, 3) for side in "ab"]


@pytest.fixture
def root(tmp_path):
    """Project with two lots of three parts, each seen from two sides."""
    with Project.create(tmp_path / "parts", classes=["rust"]) as project:
        for n, name in enumerate(NAMES):
            pixels = np.random.default_rng(n).integers(0, 255, (48, 48), np.uint8)
            write_png(project.image_path(name), pixels)
            mask = np.zeros((48, 48), np.uint8)
            mask[8:20, 8:20] = 1
            annotation.save_label(project, name, mask=mask, note=annotation.Note(status="done"))
        return project.root


@pytest.mark.parametrize(
    "rule, parts",
    [
        (Grouping(rule="folder"), 2),
        (Grouping(rule="pattern", pattern=NAME_PATTERNS["last_separator"]), 6),
        (Grouping(rule="pattern", pattern=NAME_PATTERNS["first_separator"]), 6),
        (Grouping(rule="pattern", pattern=NAME_PATTERNS["last_number"]), 2),
        (Grouping(rule="each"), 12),
    ],
)
def test_parts_and_split_of_each_rule(root, rule, parts):
    with Project.open(root) as project:
        preview = preview_parts(project, rule)
        assert (len(preview.parts), preview.images, preview.labeled) == (parts, 12, True)
        assert sum(preview.splits.values()) == 12 and project.file.grouping.rule == "auto"
        undivided = [part for part in preview.parts if len(part.splits) == 1]
        assert len(undivided) == parts, "images of one part are divided"


def test_each_choice_is_previewed_and_stored_on_request(application, root, qtbot):
    session, window = application.services.session, application.window
    with qtbot.waitSignal(session.current.opened):
        session.open_project(root)
    window.table["part_rule"].trigger()
    dialog = window.findChild(PartRuleDialog)
    qtbot.waitUntil(lambda: dialog.preview is not None)
    assert not dialog.use.isEnabled() and dialog.use.toolTip() == "This rule is in use"
    for rule, parts in (("folder", 2), ("each", 12), ("pattern", 6)):
        dialog.rules[rule].click()
        qtbot.waitUntil(lambda parts=parts: dialog.summary.text() == f"12 labeled images of {parts} parts")
        assert dialog.table.rowCount() == parts
    assert "p1_a.png, p1_b.png" in {dialog.table.item(row, 2).text() for row in range(6)}
    assert session.project.file.grouping.rule == "auto"
    QTest.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert session.project.file.grouping == Grouping(rule="pattern", pattern=NAME_PATTERNS["last_separator"])
    assert not dialog.use.isEnabled()
    dialog.names.setCurrentIndex(3)
    dialog.pattern.setText("(")
    qtbot.waitUntil(lambda: dialog.preview is None and bool(dialog.split.text()))
    assert not dialog.use.isEnabled()
    dialog.close()


def test_parts_of_a_folder_outside_of_the_project_are_named_without_the_sign_of_its_source(application, root, qtbot):
    session, window = application.services.session, application.window
    write_png(root.parent / "line" / "a.png", np.zeros((48, 48), np.uint8))
    with qtbot.waitSignal(session.current.opened):
        session.open_project(root)
    session.add_source(root.parent / "line")
    qtbot.waitUntil(lambda: len(session.keys) == len(NAMES) + 1)
    annotation.save_mask(session.project, "@line/a.png", np.eye(48, dtype=np.uint8))
    window.table["part_rule"].trigger()
    dialog = window.findChild(PartRuleDialog)
    dialog.rules["folder"].click()
    qtbot.waitUntil(lambda: dialog.preview is not None and dialog.table.rowCount() == 3)
    assert {dialog.table.item(row, 0).text() for row in range(3)} == {"line", "lot0", "lot1"}
    dialog.close()


def test_the_number_of_parts_in_the_evaluation_leads_to_the_rule(application, tmp_path, qtbot):
    window = open_project(application, make_mask_project(tmp_path / "r"), qtbot)
    with qtbot.waitSignal(application.services.evaluation.evaluated, timeout=20_000):
        window.table["evaluation"].trigger()
    notices = window.evaluation.segmentation.notices
    links = [link for link in notices.findChildren(QPushButton) if link.text() == "How parts are told apart…"]
    assert len(links) == 1 and "part" in notices.texts[0]
    QTest.mouseClick(links[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(PartRuleDialog).isVisible())
    window.findChild(PartRuleDialog).close()
