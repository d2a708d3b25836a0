"""Check and statistics in the window: findings by kind, jumps to images, repairs with undo, tables."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Grouping, Project
from workbench.inference.io.image_io import write_png
from workbench.ui.check.check_dialog import CheckDialog
from workbench.ui.check.statistics_dialog import StatisticsDialog
from workbench.ui.project.source_commands import SourceCommands
from workbench.ui.widgets.dialogs import Question

pytestmark = pytest.mark.usefixtures("one_window")


@pytest.fixture
def root(tmp_path):
    """Project of six images with an error of each repairable kind."""
    root = tmp_path / "p"
    with Project.create(root, classes=["scratch", "Scratch ", "unused"], verdicts=["OK", "NG"]) as project:
        first, *_ = fill_project(project, 4, good=1, verdicts=True)
        project.file.grouping = Grouping(rule="each")
        project.file.um_per_pixel = 20.0
        mask = annotation.load_mask(project, first)
        mask[70, 10] = 2
        mask[mask == 0] = 0
        mask[60:70, 60:70] = 1
        mask[65, 65] = 0
        annotation.save_mask(project, first, mask)
        copy = project.image_path(first).read_bytes()
        (project.root / "pictures" / "NG").mkdir()
        project.image_path("NG/copy.png").write_bytes(copy)
        write_png(project.mask_path("gone.png"), np.zeros((4, 4), np.uint8))
        project.save()
    return root


@pytest.fixture
def opened(application, root, qtbot):
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: len(session.rows) == 6, timeout=10_000)
    return application


class Check:
    """The check dialog with its result."""

    def __init__(self, application, qtbot):
        self.window, self.session, self.qtbot = application.window, application.services.session, qtbot
        self.job = application.services.project_check
        self.window.table["check_labels"].trigger()
        self.dialog = self.window.findChild(CheckDialog)
        self.wait()

    def wait(self):
        self.qtbot.waitUntil(lambda: not self.job.running and self.job.result is not None, timeout=20_000)

    def again(self):
        self.dialog.start_button.click()
        self.wait()

    def kinds(self):
        return {finding.kind for finding in self.job.result}

    def show(self, kind):
        lists = self.dialog.kinds
        row = next(i for i in range(lists.count()) if lists.item(i).data(Qt.ItemDataRole.UserRole) == kind)
        lists.setCurrentRow(row)
        return [finding for finding in self.dialog.model.findings]

    def repair(self, number=0):
        self.dialog.repair_buttons[number].click()


@pytest.fixture
def check(opened, qtbot):
    return Check(opened, qtbot)


def test_findings_are_listed_by_kind_and_rows_open_their_image(check, qtbot):
    assert check.kinds() >= {
        "island",
        "hole",
        "duplicate",
        "unused_class",
        "similar_classes",
        "folder_name",
        "stray_mask",
    }
    (hole,) = check.show("hole")
    other = next(key for key in check.session.keys if key != hole.key)
    check.session.open_image(other)
    qtbot.waitUntil(lambda: check.session.key == other)
    check.dialog.table.selectRow(0)
    qtbot.waitUntil(lambda: check.session.key == hole.key)
    view = check.window.canvas.view
    qtbot.waitUntil(lambda: check.window.canvas.view.scale >= 8)
    x, y = view.to_screen(*hole.place)
    assert 0 <= x <= view.width and 0 <= y <= view.height


def test_the_result_is_kept_and_marked_when_labels_change(check, qtbot):
    assert "changed" not in check.dialog.status.text()
    check.dialog.close()
    result = check.job.result
    check.window.table["check_labels"].trigger()
    assert check.job.result is result and not check.job.running
    check.session.verdict_steps.set_verdicts([check.session.keys[1]], "OK")
    qtbot.waitUntil(lambda: "changed" in check.dialog.status.text())
    assert check.job.result is result
    check.again()
    assert "changed" not in check.dialog.status.text() and check.job.result is not result


def test_masks_are_repaired_and_restored(check, qtbot):
    (speck,) = check.show("island")
    check.repair()
    qtbot.waitUntil(lambda: check.job.outdated, timeout=5000)
    check.show("hole")
    check.repair()
    qtbot.waitUntil(lambda: check.session.key == speck.key and check.session.mask[65, 65] == 1)
    check.again()
    assert not check.kinds() & {"island", "hole"}
    check.session.undo()
    check.session.undo()
    assert check.session.mask[65, 65] == 0 and check.session.mask[70, 10] == 2


def test_duplicates_are_grouped_in_one_step(check, qtbot):
    (finding,) = check.show("duplicate")
    check.repair()
    check.session.verdict_steps.finish()
    check.session.flush()
    groups = {annotation.load_note(check.session.project, key).group for key in (finding.key, finding.other)}
    assert groups == {finding.other}
    check.session.undo()
    check.session.verdict_steps.finish()
    check.session.flush()
    assert annotation.load_note(check.session.project, finding.key).group is None


def test_verdicts_from_folder_names_and_stray_labels(check, qtbot):
    check.show("folder_name")
    check.repair()
    check.session.verdict_steps.finish()
    assert annotation.load_note(check.session.project, "NG/copy.png").verdict == "NG"
    check.show("stray_mask")
    check.repair()
    path = check.session.project.mask_path("gone.png")
    qtbot.waitUntil(lambda: not path.exists() and not check.session.removal.running)
    check.session.undo()
    qtbot.waitUntil(path.exists)


def test_unused_classes_are_deleted(check, qtbot):
    check.show("unused_class")
    check.repair()
    qtbot.waitUntil(lambda: [info.name for info in check.session.project.classes] == ["scratch", "Scratch"])
    qtbot.waitUntil(lambda: not check.session.class_merge.running)


def test_a_duplicate_is_removed_after_a_question(check, qtbot):
    (finding,) = check.show("duplicate")
    check.repair(1)
    question = check.window.findChild(Question)
    assert finding.key in question.text()
    question.buttons["remove"].click()
    qtbot.waitUntil(lambda: finding.key not in check.session.keys, timeout=5000)
    assert any("removed from the project" in text for text in check.window.messages.texts)


def test_findings_are_saved_as_a_table(check, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "f.csv"), ""))
    check.dialog.save.click()
    with (tmp_path / "f.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(check.job.result) and rows[0]["title"] and {"island"} <= {row["kind"] for row in rows}


def test_a_canceled_check_has_no_result(opened, qtbot):
    job = opened.services.project_check
    opened.window.table["check_labels"].trigger()
    opened.window.findChild(CheckDialog).start_button.click()
    qtbot.waitUntil(lambda: not job.running)
    assert job.result is None or not job.outdated


def test_missing_folders_are_located_from_the_check(opened, qtbot, tmp_path, monkeypatch):
    session = opened.services.session
    write_png(tmp_path / "line" / "x.png", np.full((80, 96), 7, np.uint8))
    session.add_source(tmp_path / "line")
    (tmp_path / "line").rename(tmp_path / "moved")
    check = Check(opened, qtbot)
    check.show("missing_source")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "moved"))
    check.repair()
    qtbot.waitUntil(lambda: "@line/x.png" in session.keys)
    assert isinstance(opened.window.source_commands, SourceCommands) and session.project.missing_sources() == []


def test_statistics_of_the_window(opened, qtbot, tmp_path, monkeypatch):
    job = opened.services.statistics
    opened.window.table["statistics"].trigger()
    dialog = opened.window.findChild(StatisticsDialog)
    qtbot.waitUntil(lambda: job.result is not None and not job.running, timeout=20_000)
    assert dialog.table.item(0, 0).text() == "scratch" and dialog.table.item(0, 1).text() == "4"
    assert dialog.table.horizontalHeaderItem(5).text() == "Median, µm²"
    assert sum(dialog.histogram.counts) == sum(entry.regions for entry in job.result.classes)
    dialog.table.selectRow(1)
    assert dialog.chosen_class.currentText() == "Scratch" and sum(dialog.histogram.counts) == 1
    dialog.measure.setCurrentIndex(1)
    assert sum(dialog.histogram.counts) == 1
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "s.csv"), ""))
    dialog.save_regions.click()
    assert len((tmp_path / "s.csv").read_text("utf-8-sig").splitlines()) == 1 + len(job.result.regions)
    opened.services.session.verdict_steps.set_verdicts([opened.services.session.keys[0]], "OK")
    assert "changed" in dialog.status.text()
    dialog.start_button.click()
    qtbot.waitUntil(lambda: not job.running and not job.outdated)
    opened.services.session.close_project()
    assert not dialog.isVisible() and job.result is None
