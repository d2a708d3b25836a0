"""Dialog that adds a model of another program: the run is shown, predicts and is evaluated; refusals stay in it."""

from __future__ import annotations

import pytest

from tests.core.adoption.toy_networks import toy_network
from workbench.core.runs.run import list_runs
from workbench.ui.training.model_dialogs import AdoptionDialog


@pytest.fixture
def dialog(application, root, qtbot):
    with qtbot.waitSignal(application.services.session.image_list.listed, timeout=30_000):
        assert application.services.session.open_project(root)
    application.window.table["adopt_model"].trigger()
    dialog = application.window.findChild(AdoptionDialog)
    assert dialog.isVisible() and dialog.classes.text() == "scratch, pit" and not dialog.start_button.isEnabled()
    dialog.tile_size.setValue(64)
    dialog.stride.setValue(8)
    return dialog


def added(dialog, path, qtbot):
    dialog.file.line.setText(str(path))
    with qtbot.waitSignal(dialog.job.adopted, timeout=60_000) as caught:
        dialog.start_button.click()
    return caught.args[0]


def test_added_model_is_shown_and_evaluated(application, dialog, root, tmp_path, qtbot):
    services = application.services
    with qtbot.waitSignal(services.run_list.listed, timeout=30_000):
        run = added(dialog, toy_network(tmp_path / "net.onnx", classes=2), qtbot)
    assert dialog.status.text().startswith("Added as ONNX ") and "All labeled images are test images" in (
        dialog.status.text()
    )
    dialog.close()
    qtbot.waitUntil(lambda: services.training.run is not None and services.training.run.name == run.name)
    qtbot.waitUntil(lambda: [line.run.name for line in services.run_list.usable()] == [run.name], timeout=30_000)
    assert not application.window.table["run_settings"].isEnabled()
    with qtbot.waitSignal(services.evaluation.evaluated, timeout=60_000):
        services.evaluation.open(run)
    assert services.evaluation.split == "test" and services.evaluation.splits == {"test": 3}


def test_new_class_is_added_to_the_project(application, dialog, tmp_path, qtbot):
    dialog.classes.setText("scratch, dent")
    with qtbot.waitSignal(application.services.session.classes.changed, timeout=30_000):
        added(dialog, toy_network(tmp_path / "net.onnx", classes=2), qtbot)
    assert [info.name for info in application.services.session.project.classes] == ["scratch", "pit", "dent"]


def test_refusal_is_shown_in_the_dialog(dialog, root, tmp_path, qtbot):
    dialog.file.line.setText(str(toy_network(tmp_path / "net.onnx", classes=1)))
    with qtbot.waitSignal(dialog.job.failed, timeout=60_000):
        dialog.start_button.click()
    assert "has 2 channels, and the output softmax needs 3" in dialog.status.text()
    assert dialog.start_button.isEnabled() and not list_runs(root)
    dialog.mean.setText("0,5;0")
    assert not dialog.start_button.isEnabled()
