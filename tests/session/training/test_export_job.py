"""Exports in a real child process: progress, results, problems, and cancelling."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QLocale

from tests.session.task_work import running_threads
from workbench.core.problems import ParityFailed, RunUnusable, WorkerFailed
from workbench.core.runs.child_process import ChildProcess
from workbench.core.runs.events import Failed, Finished, Progress, encode
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.run import Run
from workbench.session.training import trainer_thread
from workbench.session.training.trainer_thread import ExportJob, export_command


@pytest.fixture
def run(tmp_path) -> Run:
    run = Run(tmp_path / "p" / "runs" / "一 run")
    run.best.mkdir(parents=True)
    (run.best / "model.json").write_text("{}")
    (run.best / "network.onnx").write_text("")
    return run


def printing(*events, then: str = "") -> list[str]:
    lines = "\n".join(map(encode, events))
    return [sys.executable, "-c", f"print({lines!r}, flush=True)\n{then}"]


ENDLESS = printing(Progress(what="a", done=0, total=1), then="import time; time.sleep(600)")


def test_export_reports_progress_and_result(run, qtbot):
    result = {"path": "x", "formats": ["onnx"], "parity": {"onnx": {"max_abs": 0.0}}}
    events = [Progress(what="write", done=i, total=2) for i in range(3)]
    calls = []

    def command(run, out, options):
        calls.append((run, out, list(options)[:2]))
        return printing(*events, Finished(result=result))

    exporter = ExportJob(command=command)
    progress = []
    exporter.progressed.connect(progress.append)
    with qtbot.waitSignal(exporter.finished) as finished:
        exporter.start(run, options=ExportOptions(("onnx", "paddle"), "fewer", 20.0))
        assert exporter.running
        exporter.start(run)  # one at a time
    assert finished.args == [result] and progress == events and not exporter.running
    assert calls == [(run, run.project_root / "exports" / run.name, ["--formats", "onnx,paddle"])]


def test_options_reach_the_child(run, qtbot):
    code = "import json, sys; print(json.dumps({'kind': 'finished', 'result': {'arguments': sys.argv[1:]}}))"
    exporter = ExportJob(command=lambda run, out, options: [sys.executable, "-c", code, *options])
    with qtbot.waitSignal(exporter.finished) as finished:
        exporter.start(run, options=ExportOptions(("onnx", "int8"), "more", 12.5))
    options = ExportOptions(("onnx", "int8"), "more", 12.5, language="en", require_ready=True)
    assert finished.args[0]["arguments"] == options.to_arguments()
    with qtbot.waitSignal(exporter.finished) as finished:
        exporter.start(run, options=ExportOptions(), anyway=True)
    assert "--require-ready" not in finished.args[0]["arguments"]


@pytest.mark.parametrize(("language", "passed"), [("", "zh_CN"), ("en", "en")])
def test_model_card_is_in_the_language_of_the_window_by_default(run, qtbot, language, passed):
    before = QLocale()
    QLocale.setDefault(QLocale("zh_CN"))
    calls = []

    def command(run, out, options):
        calls.append(list(options)[-2:])
        return printing(Finished(result={}))

    try:
        exporter = ExportJob(command=command)
        with qtbot.waitSignal(exporter.finished):
            exporter.start(run, options=ExportOptions(language=language))
    finally:
        QLocale.setDefault(before)
    assert calls == [["--language", passed]] and exporter.options.language == language


def test_remaining_time_is_estimated_after_a_tenth(run, qtbot):
    events = [Progress(what="a", done=done, total=100, time=time) for done, time in ((1, 1.0), (20, 5.0))]
    exporter = ExportJob(command=lambda *_: printing(*events, then="import time; time.sleep(600)"))
    estimates = []
    exporter.progressed.connect(lambda _: estimates.append(exporter.eta_seconds))
    with qtbot.waitSignals([exporter.progressed] * 2):
        exporter.start(run)
    exporter.close()
    assert estimates == [None, 20.0] and exporter.eta_seconds is None


def test_problem_of_the_child_is_reported(run, qtbot):
    ending = Failed(why="w", problem="ParityFailed", fields={"why": "0.2", "report": "r"})
    exporter = ExportJob(command=lambda *_: printing(ending))
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.start(run)
    assert type(failed.args[0]) is ParityFailed and failed.args[0].fields["why"] == "0.2"


def test_crash_is_reported_with_the_error_output(run, qtbot):
    exporter = ExportJob(command=lambda *_: printing(then="import sys; sys.exit('no space left')"))
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


def test_close_ends_the_child(run, qtbot, monkeypatch):
    children = []

    class RecordedChild(ChildProcess):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)
            children.append(self)

    monkeypatch.setattr(trainer_thread, "ChildProcess", RecordedChild)
    exporter = ExportJob(command=lambda *_: ENDLESS)
    with qtbot.waitSignal(exporter.progressed):
        exporter.start(run)
    child = children[0]
    exporter.close()
    assert not exporter.running and running_threads(exporter.tasks) == 0 and child.returncode is not None


def test_run_without_a_model_is_refused(run, qtbot):
    (run.best / "network.onnx").unlink()
    exporter = ExportJob()
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.start(run)
    assert type(failed.args[0]) is RunUnusable and not exporter.running


def test_export_goes_to_an_unused_folder(run, qtbot):
    folders = []

    def command(run, out, options):
        folders.append(out.name)
        out.mkdir(parents=True)
        return printing(Finished(result={}))

    exporter = ExportJob(command=command)
    for _ in range(2):
        with qtbot.waitSignal(exporter.finished):
            exporter.start(run)
    assert folders == [run.name, f"{run.name}-2"]


def test_command_of_the_child(run):
    assert export_command(run, run.root / "out", ["--seconds", "0"])[-6:] == [
        *("export", str(run.root), "--out", str(run.root / "out"), "--seconds", "0"),
    ]
