"""Child processes: captured output, time limits, and the steps of a stop."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import threading
import time

import psutil
import pytest

from workbench.core.problems import BadSettings
from workbench.core.runs.child_process import ChildProcess, StopEscalation, StopTimeouts, run_captured
from workbench.core.runs.events import Checkpoint, Finished, Trouble, encode, encode_command
from workbench.core.runs.export_options import (
    COMMAND_LINE_FORMATS,
    LAYOUTS,
    LINE_FORMAT,
    ExportOptions,
    add_export_arguments,
    engines_of,
)
from workbench.core.runs.launch import (
    SAFE_PATH,
    VERBS,
    benchmark_command,
    code_command,
    program_command,
    worker_command,
)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_errors_are_captured_separately():
    output = run_captured(python("import sys; print('é'); print('low', file=sys.stderr); sys.exit(3)"), seconds=60)
    assert (output.returncode, output.stdout.strip(), output.last_line) == (3, "é", "low")


def test_last_line_falls_back_to_the_output():
    assert run_captured(python("print('a'); print('b')"), seconds=60).last_line == "b"
    assert run_captured(python(""), seconds=60).last_line == ""


def test_large_output_does_not_block():
    output = run_captured(python("print('x' * 1_000_000)"), seconds=60)
    assert len(output.stdout.strip()) == 1_000_000


def test_program_over_the_time_limit_is_killed_with_its_children(tmp_path):
    started = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(started)!r} + '.part', 'w').write(str(p.pid))\n"
        f"import os; os.replace({str(started)!r} + '.part', {str(started)!r})\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(TimeoutError):
        run_captured(python(code), seconds=600, tick=lambda: _raise_if(started.exists()))
    pid = int(started.read_text())
    until = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert run_captured(python("import time; time.sleep(600)"), seconds=0).returncode is None


def _raise_if(condition: bool) -> None:
    if condition:
        raise TimeoutError


def test_environment_and_folder_are_passed(tmp_path):
    code = "import os, json; print(json.dumps([os.environ.get('A'), os.getcwd()]))"
    output = run_captured(python(code), seconds=60, environment={"A": "1"}, folder=tmp_path)
    assert json.loads(output.stdout) == ["1", str(tmp_path.resolve())]


def test_kill_ends_a_child_that_ignores_sigterm(tmp_path):
    line = encode(Trouble(what="ready"))
    code = f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print({line!r}, flush=True)\n"
    child = ChildProcess(
        python(code + "time.sleep(600)"),
        log=tmp_path / "log.txt",
        timeouts=StopTimeouts(command=math.inf, saving=math.inf),
    )
    events = []
    for event in child.events():
        events.append(event.what)
        child.stop(encode_command("stop"))
        threading.Timer(0.3, child.kill).start()
    assert events == ["ready"] and child.forced and child.returncode != 0


def test_child_that_ends_without_a_final_event_is_described(tmp_path):
    child = ChildProcess(python("import sys; sys.exit('disk is full')"), log=tmp_path / "log.txt")
    assert list(child.events()) == []
    failed = child.exit_event("export", time=2.0)
    assert "exit code 1" in failed.why and "disk is full" in failed.why and failed.time == 2.0


def test_library_output_goes_to_the_log(tmp_path):
    child = ChildProcess(python(f"print('note of a library'); print({encode(Finished())!r})"), log=tmp_path / "log.txt")
    assert [type(event) for event in child.events()] == [Finished]
    assert "note of a library" in (tmp_path / "log.txt").read_text()


def test_escalation_terminates_then_kills_and_waits_for_a_checkpoint():
    escalation = StopEscalation(StopTimeouts(command=0.0, terminate=0.0, saving=600))
    assert escalation.due() is None
    escalation.begin()
    assert [escalation.due() for _ in range(3)] == ["terminate", "kill", None]
    saving = StopEscalation(StopTimeouts(command=0.0, terminate=0.0, saving=600))
    saving.begin()
    saving.consider(Checkpoint(step=1, which="last"))
    assert saving.due() is None
    saving.begin(graceful=False)
    assert saving.due() == "terminate"


@pytest.mark.parametrize("frozen", [False, True])
def test_commands_of_a_packed_application_use_its_executable(monkeypatch, tmp_path, frozen):
    if frozen:
        monkeypatch.setattr("sys.frozen", True, raising=False)
        monkeypatch.setattr("sys.executable", str(tmp_path / "DefectWorkbench"))
    head = ["--worker"] if frozen else ["workbench.training"]
    for verb in VERBS:
        command = worker_command(verb, "x")
        assert command[0] == sys.executable and command[-len(head) - 2 :] == [*head, verb, "x"]
    command = benchmark_command(tmp_path, "--engine", "onnx")
    assert command[-3:] == [str(tmp_path), "--engine", "onnx"]
    assert ("measure" in command) == frozen and ("-c" in command) != frozen


@pytest.mark.parametrize("option", [pytest.param(SAFE_PATH, marks=pytest.mark.slow), ()])
def test_file_in_the_current_folder_does_not_replace_a_standard_module(tmp_path, monkeypatch, option):
    for name in ("argparse", "html", "runpy", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the file of the user was run')", "utf-8")
    monkeypatch.setattr("workbench.core.runs.launch.SAFE_PATH", option)  # there is none before Python 3.11
    for command in (worker_command("train", "--help"), program_command("train", "--help")):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and "usage: workbench" in done.stdout, done.stderr
    command = code_command("\nimport argparse, html\nprint(html.escape('<'))\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "&lt;", done.stderr


def test_every_verb_is_known_to_the_training_program():
    output = run_captured([sys.executable, "-m", "workbench.training", "--help"], seconds=60)
    assert all(f"    {verb} " in output.stdout for verb in VERBS)


def parse(arguments: list[str]) -> ExportOptions:
    parser = argparse.ArgumentParser()
    add_export_arguments(parser)
    return ExportOptions.from_namespace(parser.parse_args(arguments))


@pytest.mark.parametrize(
    "options",
    [
        ExportOptions(),
        ExportOptions(("onnx", "int8"), "0.35", 12.5, 0.5, "zh_CN"),
        ExportOptions(("paddle",), "more", seconds=0),
        ExportOptions(("onnx", LINE_FORMAT), shape=(480, 640)),
    ],
)
def test_arguments_and_parser_are_inverse(options):
    assert parse(options.to_arguments()) == options


def test_an_export_has_the_engines_of_its_layouts():
    assert engines_of(("triton", "paddle", "onnx", "mlflow")) == ["onnx", "paddle"]
    for name in (LINE_FORMAT, *LAYOUTS):
        assert engines_of((name,)) == ["onnx"]


def test_command_line_defaults():
    assert parse([]) == ExportOptions(COMMAND_LINE_FORMATS)
    assert parse(["--formats", " onnx, ,int8"]).formats == ("onnx", "int8")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (ExportOptions(("tflite",)), "formats"),
        (ExportOptions(()), "formats"),
        (ExportOptions(target_ms=0.0), "target"),
        (ExportOptions(language="tlh"), "language"),
    ],
)
def test_invalid_options_are_refused(options, key):
    with pytest.raises(BadSettings) as raised:
        options.check()
    assert raised.value.fields["key"] == key
    ExportOptions().check()


@pytest.mark.parametrize("text", ["512", "512x", "x512", "-5x5", "5.5x5", "axb", "512x512x3", "²x5", "9" * 30 + "x5"])
def test_shapes_that_are_none_are_refused(text, capsys):
    with pytest.raises(SystemExit) as error:
        parse(["--shape", text])
    assert error.value.code == 2 and "--shape" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(15, 512), (512, 8193), (8192, 8192), (0, 0)])
def test_shapes_beyond_the_limits_are_refused(shape):
    with pytest.raises(BadSettings, match="16 million"):
        ExportOptions((LINE_FORMAT,), shape=shape).check()
    ExportOptions((LINE_FORMAT,), shape=(4096, 4096)).check()
