"""Verb doctor: checks of this machine, known problems and their fixes."""

from __future__ import annotations

import json
import sys

import pytest

from workbench import cli
from workbench.cli import doctor
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.pip_commands import paddle_command, requirement
from workbench.inference.engines.registry import KINDS


def checks(capsys, *options):
    assert cli.main(["doctor", "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)["checks"]
    assert all({"name", "ok", "fix"} <= set(check) for check in found)
    return {check["name"]: check for check in found}


def test_checks_describe_this_machine(capsys):
    found = checks(capsys, "--quick")
    assert {"python", "machine", "disk", "write access", "packages", "opencv", "onnxruntime", "window"} <= set(found)
    assert "graphics card" in found
    for check in found.values():
        assert bool(check["fix"]) == (not check["ok"]), check


def test_export_formats_are_listed_with_missing_packages(capsys):
    detail = checks(capsys, "--quick")["export formats"]["detail"]
    possible, *rest = detail.split("; ")
    assert {*possible.split(", "), *(part.partition(":")[0] for part in rest)} == set(KINDS)
    assert "onnx" in possible.split(", ") and all(len(part.partition(": ")[2]) > 10 for part in rest)


def test_window_is_tested_in_another_process(capsys):
    before = "PySide6" in sys.modules
    assert doctor._window(quick=False).ok
    assert ("PySide6" in sys.modules) == before


@pytest.mark.parametrize(
    ("versions", "name", "words"),
    [
        ({"opencv-python": "4.10", "opencv-python-headless": "5.0"}, "opencv", "uninstall -y opencv-python "),
        ({"onnxruntime": "1.24.0"}, "onnxruntime", "!=1.24.0"),
        ({"paddlepaddle": "3.3.1", "paddlepaddle-gpu": "3.3.1"}, "paddle", "uninstall -y paddlepaddle "),
        ({"paddlepaddle": "2.6.2"}, "paddle", ">=3.3"),
        ({"paddlepaddle": "3.3.1"}, "onnx", "onnx>=1.16"),
        ({}, "window", "PySide6-Essentials"),
    ],
)
def test_known_problems_are_reported_with_a_command(capsys, monkeypatch, versions, name, words):
    monkeypatch.setattr(doctor, "_version", versions.get)
    check = checks(capsys, "--quick")[name]
    assert not check["ok"] and words in check["fix"] and sys.executable in check["fix"]


def test_crashing_version_of_qt_is_reported(monkeypatch):
    monkeypatch.setattr(doctor, "_version", {"PySide6-Essentials": "6.12.0"}.get)
    monkeypatch.setattr(doctor.sys, "version_info", (3, 11, 0))
    check = doctor._window(quick=True)
    assert not check.ok and "!=6.12.0" in check.fix
    monkeypatch.setattr(doctor.sys, "version_info", (3, 12, 0))
    assert doctor._window(quick=True).ok


def test_gpu_with_a_cpu_build_is_reported(monkeypatch):
    monkeypatch.setattr(doctor, "_version", {"paddlepaddle": "3.3.1", "onnx": "1.17.0"}.get)
    found = {check.name: check for check in doctor._paddle(["NVIDIA RTX 4090"], quick=True)}
    check = found["paddle for the card"]
    assert not check.ok and "paddlepaddle-gpu" in check.fix and "--extra-index-url" in check.fix


def test_training_is_tested_in_another_process(capsys):
    if not paddle_installed():
        pytest.skip("PaddlePaddle is not installed")
    check = doctor._training("cure")
    assert check.ok and "cpu" in check.detail


def test_commands_are_quoted_for_a_shell():
    assert paddle_command().count('"') % 2 == 0 and "<3.4" in paddle_command()
    assert requirement("no-such-package") == "no-such-package"
