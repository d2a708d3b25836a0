"""Fixtures: the evaluation of a UNet run."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.session.mask_run import make_mask_project
from tests.ui.evaluation.evaluation_windows import CONTROL_SHIFT
from workbench.core.runs.run import Run


@pytest.fixture
def run(tmp_path) -> Run:
    return make_mask_project(tmp_path / "项目 [r]")


@pytest.fixture
def window(application, run, qtbot):
    session = application.services.session
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(run.project_root)
    return application.window


@pytest.fixture
def page(window, application, qtbot):
    """The page with the metrics of the test images."""
    evaluation = application.services.evaluation
    with qtbot.waitSignals([evaluation.evaluated, evaluation.sweep_finished], timeout=20_000):
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    return window.evaluation.segmentation


@pytest.fixture
def verdicts(page, application, qtbot):
    """The image verdicts of the evaluation, with a result."""
    verdicts = application.services.evaluation.verdicts
    qtbot.waitUntil(lambda: verdicts.result is not None)
    return verdicts
