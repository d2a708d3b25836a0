"""Exports through a real child: progress, results, problems that keep their name, and cancelling."""

from __future__ import annotations

import sys

import pytest

from workbench.core.problems import ParityFailed, RunUnusable, WorkerFailed
from workbench.core.runs.events import Failed, Finished, Progress, encode
from workbench.core.runs.run import Run
from workbench.session.training import export_job
from workbench.session.training.child_process import ChildProcess
from workbench.session.training.export_job import ExportChoices, ExportJob, export_command, free_folder


@pytest.fixture
def run(tmp_path) -> Run:
    run = Run(tmp_path / "p" / "runs" / "一 run")
    run.best.mkdir(parents=True)
    (run.best / "model.json").write_text("{}")
    (run.best / "network.onnx").write_text("")
    return run


def saying(*events, then: str = "") -> list[str]:
    lines = "\n".join(map(encode, events))
    return [sys.executable, "-c", f"print({lines!r}, flush=True)\n{then}"]


ENDLESS = saying(Progress(what="a", done=0, total=1), then="import time; time.sleep(600)")


def test_an_export_reports_and_ends_with_its_result(run, qtbot):
    result = {"path": "x", "formats": ["onnx"], "parity": {"onnx": {"max_abs": 0.0}}}
    events = [Progress(what="write", done=i, total=2) for i in range(3)]
    asked = []

    def command(run, out, formats):
        asked.append((run, out, list(formats)))
        return saying(*events, Finished(result=result))

    exporter = ExportJob(command=command)
    told = []
    exporter.progressed.connect(told.append)
    with qtbot.waitSignal(exporter.finished) as finished:
        exporter.start(run, choices=ExportChoices(("onnx", "paddle"), "fewer", 20.0))
        assert exporter.running
        exporter.start(run)  # one at a time
    assert finished.args == [result] and told == events and not exporter.running
    assert asked == [(run, run.project_root / "exports" / run.name, ["onnx", "paddle"])]


def test_what_was_chosen_reaches_the_child(run, qtbot):
    code = "import json, sys; print(json.dumps({'kind': 'finished', 'result': {'arguments': sys.argv[1:]}}))"
    exporter = ExportJob(command=lambda run, out, formats: [sys.executable, "-c", code, *formats])
    with qtbot.waitSignal(exporter.finished) as finished:
        exporter.start(run, choices=ExportChoices(("onnx", "int8"), "more", 12.5))
    assert finished.args[0]["arguments"] == [
        *("onnx", "int8", "--point", "more", "--target", "12.5", "--language", "en"),
    ]


def test_the_time_left_is_told_once_it_can_be(run, qtbot):
    events = [Progress(what="a", done=done, total=100, time=time) for done, time in ((1, 1.0), (20, 5.0))]
    exporter = ExportJob(command=lambda *_: saying(*events, then="import time; time.sleep(600)"))
    told = []
    exporter.progressed.connect(lambda _: told.append(exporter.eta_seconds))
    with qtbot.waitSignals([exporter.progressed] * 2):
        exporter.start(run)
    exporter.close()
    assert told == [None, 20.0] and exporter.eta_seconds is None


def test_a_failed_export_keeps_its_problem(run, qtbot):
    told = Failed(why="w", problem="ParityFailed", fields={"why": "0.2", "report": "r"})
    exporter = ExportJob(command=lambda *_: saying(told))
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.start(run)
    assert type(failed.args[0]) is ParityFailed and failed.args[0].fields["why"] == "0.2"


def test_an_export_that_dies_is_told_in_words(run, qtbot):
    exporter = ExportJob(command=lambda *_: saying(then="import sys; sys.exit('no space left')"))
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.start(run)
    assert type(failed.args[0]) is WorkerFailed and "no space left" in str(failed.args[0])


def test_cancel_ends_the_child(run, qtbot):
    exporter = ExportJob(command=lambda *_: ENDLESS)
    with qtbot.waitSignal(exporter.progressed):
        exporter.start(run)
    with qtbot.waitSignal(exporter.cancelled):
        exporter.cancel()
    assert not exporter.running


def test_the_end_of_the_window_ends_the_child(run, qtbot, monkeypatch):
    children = []

    class RecordedChild(ChildProcess):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)
            children.append(self)

    monkeypatch.setattr(export_job, "ChildProcess", RecordedChild)
    exporter = ExportJob(command=lambda *_: ENDLESS)
    with qtbot.waitSignal(exporter.progressed):
        exporter.start(run)
    child = children[0]
    exporter.close()
    assert not exporter.running and exporter._tasks._pool.activeThreadCount() == 0 and child.returncode is not None


def test_a_run_without_a_model_is_refused(run, qtbot):
    (run.best / "network.onnx").unlink()
    exporter = ExportJob()
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.start(run)
    assert type(failed.args[0]) is RunUnusable and not exporter.running


def test_an_export_gets_a_folder_of_its_own(run):
    first = free_folder(run)
    first.mkdir(parents=True)
    assert free_folder(run).name == f"{run.name}-2"
    assert export_command(run, first, ["onnx", "paddle"])[-5:] == [
        str(run.root),
        "--out",
        str(first),
        "--formats",
        "onnx,paddle",
    ]
