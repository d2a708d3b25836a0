"""Dialog `Check GPU`: its summary for several machines, and commands to copy."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from tests.conftest import fill_project
from workbench.core.messages import Message
from workbench.core.project.project import Project
from workbench.core.runs.gpu_facts import Gpu, GpuFacts
from workbench.core.runs.pip_commands import InstalledBuild, choose_for_machine
from workbench.session.preferences import Preferences
from workbench.ui.project.help_dialogs import GpuCheckDialog, GpuFindings
from workbench.ui.shell.welcome import RecentRow
from workbench.ui.widgets.dialogs import Question

RTX = Gpu(0, "NVIDIA GeForce RTX 3060", 12 << 30, (8, 6))
GPU_BUILD = InstalledBuild("3.3.1", (12, 6), "9.9.0", ((7, 5), (8, 0), (8, 6)))
CPU_BUILD = InstalledBuild("3.3.1", None)


def machine(*gpus: Gpu, driver: str = "560.94", visible: str | None = None) -> GpuFacts:
    return GpuFacts("Windows", gpus, driver if gpus else "", (12, 6) if gpus else None, "" if gpus else "x", visible)


@pytest.fixture
def shown(qtbot):
    def show(facts: GpuFacts, installed: InstalledBuild | None) -> GpuCheckDialog:
        dialog = GpuCheckDialog(read=lambda: GpuFindings(facts, installed, choose_for_machine(facts)))
        qtbot.addWidget(dialog)
        qtbot.waitUntil(lambda: bool(dialog.commands), timeout=5000)
        return dialog

    return show


@pytest.mark.parametrize(
    ("facts", "installed", "summary", "commands"),
    [
        (machine(), CPU_BUILD, "No NVIDIA GPU can be used", ["doctor"]),
        (machine(RTX), GPU_BUILD, "Training can use the GPU", ["doctor", "acceptance"]),
        (machine(RTX), CPU_BUILD, "does not use the GPU", ["install", "doctor", "acceptance"]),
        (machine(RTX), None, "does not use the GPU", ["install", "doctor", "acceptance"]),
        (machine(RTX, visible=""), GPU_BUILD, "CUDA_VISIBLE_DEVICES hides", ["doctor"]),
        (machine(RTX, driver="440.1"), GPU_BUILD, "Update it to version 528.33", ["install", "doctor", "acceptance"]),
        (machine(Gpu(0, "RTX 5090", 32 << 30, (12, 0)), driver="581.1"), GPU_BUILD, "built for other GPUs", None),
        (machine(Gpu(0, "GTX 780", 3 << 30, (3, 5))), CPU_BUILD, "does not support this GPU", ["doctor", "acceptance"]),
    ],
)
def test_summary_and_commands(shown, facts, installed, summary, commands):
    dialog = shown(facts, installed)
    assert summary in dialog.summary.text()
    if commands is not None:
        assert list(dialog.commands) == commands
    else:
        assert "/cu129/" in dialog.commands["install"].text()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (GpuFacts("Windows", reason=Message("device.no_driver")), "No NVIDIA driver is installed"),
        (dataclasses.replace(machine(RTX), lost=((1, "GPU is lost"),)), "does not respond (GPU is lost). Restart"),
    ],
)
def test_reason_for_a_missing_gpu(shown, facts, text):
    dialog = shown(facts, GPU_BUILD)
    assert any(text in label.text() for label in dialog.findChildren(QLabel))


def test_commands_are_copied(shown):
    dialog = shown(machine(RTX), GPU_BUILD)
    copy = [button for button in dialog.findChildren(QPushButton) if button.text() == "Copy"]
    copy[-1].click()
    assert QGuiApplication.clipboard().text().endswith("workbench doctor --gpu")


@pytest.fixture
def closed(opened, qtbot):
    """Application whose project was opened and closed."""
    opened.services.session.close_project()
    qtbot.waitUntil(lambda: opened.window.welcome.isVisible())
    return opened


def rows(application) -> list[RecentRow]:
    layout = application.window.welcome._recent
    return [layout.itemAt(number).widget() for number in range(layout.count())]


def choose(monkeypatch, folder) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))


def test_project_that_is_not_found_stays_in_the_list(closed, root, tmp_path):
    window = closed.window
    moved = shutil.move(root, tmp_path / "moved")
    window.welcome.show_recent()
    (row,) = rows(closed)
    assert row.button.title.text() == root.name and row.button.text_label.full_text.startswith("Not found: ")
    row.button.click()
    assert any(str(root) in text and "was not found" in text for text in window.messages.texts)
    assert closed.services.session.project is None
    assert Preferences.load().recent_projects == [str(root)]
    shutil.move(moved, root)
    window.welcome.show_recent()
    assert rows(closed)[0].locate is None and str(root.parent) in rows(closed)[0].button.toolTip()


def test_missing_project_is_located(closed, root, tmp_path, monkeypatch, qtbot):
    session = closed.services.session
    closed.services.preferences.last_pictures[str(root)] = "lot1/new.png"
    shutil.move(root, tmp_path / "moved")
    closed.window.welcome.show_recent()
    choose(monkeypatch, tmp_path / "moved")
    with qtbot.waitSignal(session.current.opened, timeout=10_000) as image:
        rows(closed)[0].locate.click()
    assert session.project.root == tmp_path / "moved" and image.args == ["lot1/new.png"]
    assert Preferences.load().recent_projects == [str(tmp_path / "moved")]


def test_another_project_is_not_taken_for_the_missing_one(closed, root, tmp_path, monkeypatch):
    with Project.create(tmp_path / "other", classes=["scratch"]) as project:
        fill_project(project, 1)
    shutil.move(root, tmp_path / "moved")
    closed.window.welcome.show_recent()
    choose(monkeypatch, tmp_path / "other")
    rows(closed)[0].locate.click()
    assert any("holds another project" in text for text in closed.window.messages.texts)
    assert closed.services.session.project is None
    assert closed.services.preferences.recent_projects == [str(root)]


def test_missing_project_is_removed_from_the_list(closed, root, tmp_path):
    shutil.move(root, tmp_path / "moved")
    closed.window.welcome.show_recent()
    remove = next(b for b in rows(closed)[0].findChildren(QPushButton) if b.text() == "Remove")
    remove.click()
    assert not rows(closed) and Preferences.load().recent_projects == []
    assert (tmp_path / "moved" / "project.json").is_file()


def test_moved_project_that_is_opened_at_its_new_place_replaces_its_entry(closed, root, tmp_path, qtbot):
    session, commands = closed.services.session, closed.window.project_commands
    shutil.move(root, tmp_path / "moved")
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        commands.open(tmp_path / "moved")
    assert closed.services.preferences.recent_projects == [str(tmp_path / "moved")]
    assert any("was moved" in text and str(root) in text for text in closed.window.messages.texts)


def test_copy_of_a_project_after_the_question_has_an_entry_of_its_own(closed, root, tmp_path, qtbot):
    session, commands = closed.services.session, closed.window.project_commands
    copy, id = tmp_path / "copy", closed.services.preferences.project_ids[str(root)]
    shutil.copytree(root, copy)
    commands.open(copy)
    question = closed.window.findChild(Question)
    assert str(root) in question.text() and str(copy) in question.text() and session.project is None
    question.buttons["cancel"].click()
    assert session.project is None and closed.services.preferences.recent_projects == [str(root)]
    assert not closed.window.messages.texts  # the question has said it all
    qtbot.waitUntil(lambda: closed.window.findChild(Question) is None)
    commands.open(copy)
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        closed.window.findChild(Question).buttons["copy"].click()
    assert closed.services.preferences.recent_projects == [str(copy), str(root)]
    ids = closed.services.preferences.project_ids
    assert ids[str(root)] == id != ids[str(copy)]


def test_menu_marks_projects_that_are_not_found(closed, root, tmp_path):
    shutil.move(root, tmp_path / "moved")
    menu = closed.window.project_commands.recent.menu
    menu.aboutToShow.emit()
    (action,) = menu.actions()
    assert action.text().endswith("not found") and action.isEnabled()
    action.trigger()
    assert any("was not found" in text for text in closed.window.messages.texts)
