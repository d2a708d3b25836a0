"""Forked programs behave as those that `Popen` starts: streams, environment, folder, group, signals, exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from tests.forked_programs import PROGRAMS, ROOT, ForkedPrograms, Program
from workbench.core.runs.launch import worker_environment

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info < (3, 11),
    reason="only Linux can choose the parent of an orphan, and Python 3.10 has no option -P",
)
MODULE = "tests.reported_process"


@pytest.fixture
def programs(monkeypatch):
    """Fork `MODULE`, besides the programs of the workbench."""
    monkeypatch.setitem(PROGRAMS, MODULE, Program(MODULE, ("json",)))
    programs = ForkedPrograms({MODULE: [{**os.environ, "PYTHONUTF8": "1"}]})
    monkeypatch.setattr(subprocess.Popen, "_execute_child", programs.method())
    yield programs
    programs.close()


@pytest.fixture(params=["forked", "new"])
def start(programs, request, tmp_path):
    """Return a function that starts the program in `tmp_path`, once forked and once as a new process."""
    programs.enabled = request.param == "forked"

    def start(*arguments, **options):
        environment = {**os.environ, "PYTHONUTF8": "1", "WORKBENCH_MARK": "ü"}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE, *arguments],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **options,
        )
        assert programs.forked == (request.param == "forked")
        return process

    return start


def test_surroundings_of_a_program(start, tmp_path):
    process = start("a b", "ü", process_group=0)
    assert psutil.Process(process.pid).ppid() == os.getpid()
    out, error = process.communicate("line\n")
    report = json.loads(out)
    assert report == {
        "arguments": ["a b", "ü"],
        "input": "line\n",
        "folder": str(tmp_path),
        "mark": "ü",
        "process": process.pid,
        "group": process.pid,
        "name": "__main__",
        "in_path": False,
        "descriptors": [0, 1, 2],
        "handler": int(signal.SIG_DFL),
    }
    assert (process.returncode, error) == (0, "reported\n")


@pytest.mark.parametrize("argument, status, message", [("3", 3, ""), ("no file", 1, "no file\n"), ("error", 1, None)])
def test_exit_status(start, argument, status, message):
    process = start("exit", argument)
    out, error = process.communicate("")
    assert (process.returncode, out) == (status, "at exit\n")
    assert error == message if message is not None else "ValueError: error" in error


def test_program_ends_by_a_signal_and_waits_for_its_threads(start):
    process = start("sleep")
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert not psutil.pid_exists(process.pid)


def test_program_with_another_environment_is_a_new_process(programs):
    command = [sys.executable, "-P", "-m", MODULE]
    for variables, forked in (({}, 1), ({"FLAGS_x": "1"}, 1), ({"XDG_CACHE_HOME": "x"}, 2)):
        environment = {**os.environ, "PYTHONUTF8": "1", **variables}
        done = subprocess.run(command, env=environment, input="", capture_output=True, encoding="utf-8")
        assert json.loads(done.stdout)["name"] == "__main__" and programs.forked == forked
    assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0 and programs.forked == 2


@pytest.mark.parametrize(
    ("module", "environment"),
    [
        ("workbench", lambda: {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}),
        ("workbench.training", lambda: worker_environment("cpu")),
    ],
    ids=["verb", "training"],
)
def test_programs_of_the_workbench_are_forked(forked_programs, module, environment):
    """With the variables that each test changes; otherwise each test would import all libraries again."""
    before, command = forked_programs.forked, [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and forked_programs.forked == before + 1, done.stderr


def test_new_processes_replace_a_server_that_has_ended(programs):
    command = [sys.executable, "-P", "-m", MODULE, "exit", "3"]
    options = {"env": {**os.environ, "PYTHONUTF8": "1"}, "stdout": subprocess.DEVNULL}
    assert subprocess.run(command, **options).returncode == 3 and programs.forked == 1
    [server] = programs._servers.values()
    server._process.kill()
    server._process.wait()
    assert subprocess.run(command, **options).returncode == 3 and programs.forked == 1


def test_threads_of_onnx_runtime_wait_without_a_busy_loop(tmp_path):
    pytest.importorskip("onnxruntime")
    from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, write_onnx
    from workbench.inference.engines.onnx_engine import onnxruntime

    write_onnx(tmp_path / "x.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    for options in (None, onnxruntime.SessionOptions()):
        session = onnxruntime.InferenceSession(str(tmp_path / "x.onnx"), options, providers=["CPUExecutionProvider"])
        assert session.get_session_options().get_session_config_entry("session.intra_op.allow_spinning") == "0"
