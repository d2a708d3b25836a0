"""Verb doctor: checks of this machine, known problems and their fixes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path, PureWindowsPath

import pytest

from workbench import cli
from workbench.cli import doctor, gpu_checks
from workbench.cli.gpu_checks import Machine
from workbench.core.runs import gpu_facts, network_stats, pip_commands
from workbench.core.runs.child_process import ChildOutput
from workbench.core.runs.gpu_facts import Gpu, GpuFacts
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.network_stats import downloaded_resnet
from workbench.core.runs.pip_commands import BUILDS, paddle_command, requirement
from workbench.inference import visual_cpp
from workbench.inference.engines import onnx_engine
from workbench.inference.engines.registry import KINDS, install_command

INSTALLED = pytest.mark.skipif(
    pip_commands.installed_version("defect-workbench") is None,
    reason="a checkout has no metadata, which name the versions",
)


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


def test_pretrained_weights_are_located(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(network_stats, "user_cache_dir", lambda *_, **__: str(tmp_path))
    detail = checks(capsys, "--quick")["pretrained weights"]["detail"]
    assert detail.endswith(f"{downloaded_resnet(18).parent}: none of them yet")
    downloaded_resnet(34).parent.mkdir(parents=True)
    downloaded_resnet(34).touch()
    assert checks(capsys, "--quick")["pretrained weights"]["detail"].endswith(": resnet34.pdparams")


def test_window_is_tested_in_another_process(capsys):
    before = "PySide6" in sys.modules
    assert doctor.check_window(Machine(quick=False)).ok
    assert ("PySide6" in sys.modules) == before


@pytest.mark.parametrize(
    ("versions", "name", "words"),
    [
        ({"opencv-python": "4.10", "opencv-python-headless": "5.0"}, "opencv", "uninstall -y opencv-python "),
        ({"onnxruntime": "1.24.0"}, "onnxruntime", "!=1.24.0"),
        (
            {"onnxruntime": "1.20.0", "onnxruntime-gpu": "1.20.0"},
            "onnxruntime",
            "uninstall -y onnxruntime onnxruntime-gpu",
        ),
        ({"paddlepaddle": "3.3.1", "paddlepaddle-gpu": "3.3.1"}, "paddle", "uninstall -y paddlepaddle "),
        ({"paddlepaddle": "2.6.2"}, "paddle", ">=3.3"),
        pytest.param({"paddlepaddle": "3.3.1"}, "onnx", "onnx>=1.16", marks=INSTALLED),
        pytest.param({}, "window", "pyside6-essentials", marks=INSTALLED),
    ],
)
def test_known_problems_are_reported_with_a_command(capsys, monkeypatch, versions, name, words):
    monkeypatch.setattr(pip_commands, "installed_version", versions.get)
    check = checks(capsys, "--quick")[name]
    assert not check["ok"] and words in check["fix"] and sys.executable in check["fix"]


def test_gpu_build_of_onnxruntime_without_cuda_is_reported(capsys, monkeypatch):
    """The session would compute on the CPU; the library prints what it misses, in the middle of the JSON object."""
    import onnxruntime

    def load() -> None:
        print("Failed to load libcublas.so.13: libcublas.so.13: cannot open shared object file")

    monkeypatch.setattr(onnxruntime, "preload_dlls", load, raising=False)
    monkeypatch.setattr(onnx_engine, "load_cuda", onnx_engine.load_cuda.__wrapped__)  # no earlier result
    monkeypatch.setattr(pip_commands, "installed_version", {"onnxruntime-gpu": "1.31.1"}.get)
    monkeypatch.setattr(gpu_facts, "read_gpu_facts", lambda: GpuFacts("Linux"))
    assert checks(capsys, "--quick")["onnxruntime"]["ok"]
    monkeypatch.setattr(gpu_facts, "read_gpu_facts", lambda: GpuFacts("Linux", (Gpu(0, "NVIDIA H200"),)))
    check = checks(capsys, "--quick")["onnxruntime"]
    assert not check["ok"] and "CPU: libcublas.so.13: cannot open" in check["detail"]
    assert "onnxruntime-gpu[cuda,cudnn]" in check["fix"]


def test_onnxruntime_is_removed_before_its_gpu_build_is_installed():
    command = install_command("tensorrt")
    assert re.match("pip uninstall -y onnxruntime( && |\n)pip ", command) and "onnxruntime-gpu" in command
    assert "uninstall" not in install_command("openvino")


@INSTALLED
def test_crashing_version_of_qt_is_reported(monkeypatch):
    monkeypatch.setattr(pip_commands, "installed_version", {"PySide6-Essentials": "6.12.0"}.get)
    monkeypatch.setattr(doctor.sys, "version_info", (3, 11, 0))
    check = doctor.check_window(Machine(quick=True))
    assert not check.ok and "!=6.12.0" in check.fix
    monkeypatch.setattr(doctor.sys, "version_info", (3, 12, 0))
    assert doctor.check_window(Machine(quick=True)).ok


def test_training_is_tested_in_another_process(capsys):
    if not paddle_installed():
        pytest.skip("PaddlePaddle is not installed")
    check, report = gpu_checks.training("the command")
    assert check.ok and "cpu" in check.detail and report["gpu_error"] == "" and report["warnings"] == []


def test_options_of_the_acceptance_test_need_it(capsys):
    assert cli.main(["doctor", "--quick", "--device", "cpu"]) == 2
    assert "requires --gpu" in capsys.readouterr().err


def test_commands_are_quoted_for_a_shell():
    for command in (paddle_command(), paddle_command(BUILDS[0])):
        assert command.count('"') % 2 == 0 and "<3.4" in command
    assert "--extra-index-url" not in paddle_command() and paddle_command(BUILDS[0]).endswith("/cu126/")
    assert requirement("no-such-package") == "no-such-package"


@pytest.mark.parametrize(
    ("output", "language", "ok", "detail"),
    [
        ("120 8", "en_US", True, "120 families, 8 of them with Chinese characters"),
        ("12 0", "en_US", True, "in English only"),
        ("12 0", "zh_CN", False, "in English only"),
        ("0 0", "en_US", False, "no font is installed"),
        ("", "en_US", True, "not tested"),
    ],
)
def test_fonts(monkeypatch, output, language, ok, detail):
    monkeypatch.setattr(doctor, "run_captured", lambda *_, **__: ChildOutput(0, output, ""))
    monkeypatch.setattr(doctor.locale, "getlocale", lambda: (language, "UTF-8"))
    check = doctor.check_fonts(Machine(quick=False))
    assert (check.ok, bool(check.fix)) == (ok, not ok) and detail in check.detail


def test_fonts_of_this_machine_are_counted():
    assert re.fullmatch(r"(\d+ families.*|no font .*)", doctor.check_fonts(Machine(quick=False)).detail)


# --- Windows, with a registry that the test supplies ------------------------------------------------------------


def registry(**values):
    return lambda path, name: values.get(name)


@pytest.mark.parametrize(
    ("values", "brought", "ok", "detail"),
    [
        ({"Installed": 1, "Major": 14, "Minor": 44, "Bld": 35211}, (), True, "14.44.35211"),
        ({"Installed": 1, "Major": 14, "Minor": 29, "Bld": 30139}, (14, 36, 1), False, "too old"),
        ({"Installed": 1, "Major": 14, "Minor": 29, "Bld": 30139}, (14, 44, 1), True, "14.44.1 of PySide6"),
        ({"Installed": 0, "Major": 14, "Minor": 44, "Bld": 35211}, (), False, "not installed"),
        ({}, (), False, "not installed"),
    ],
)
def test_visual_cpp_runtime(values, brought, ok, detail):
    check = doctor.runtime_of(registry(**values), brought)
    assert check.ok == ok and detail in check.detail
    assert check.fix == ("" if ok else visual_cpp.INSTALL)


def test_long_paths_are_enabled():
    deep = PureWindowsPath("C:/" + "a/" * 100)
    check = doctor.long_paths(registry(LongPathsEnabled=1), deep, deep)
    assert check.ok and not check.fix


@pytest.mark.parametrize(
    ("packages", "folder", "ok"),
    [
        ("C:/Users/li/defect-workbench/.venv/Lib/site-packages", "D:/images", True),
        ("C:/Users/" + "long/" * 15 + ".venv/Lib/site-packages", "D:/images", False),
        ("C:/venv/Lib/site-packages", "D:/" + "folder/" * 20, False),
    ],
)
def test_folders_leave_room_for_the_paths_below_them(packages, folder, ok):
    check = doctor.long_paths(registry(LongPathsEnabled=0), PureWindowsPath(packages), PureWindowsPath(folder))
    assert check.ok == ok and ("reg add" in check.fix) != ok


def test_packages_have_no_path_longer_than_assumed():
    """The longest path inside PySide6 and PaddlePaddle, which the check counts on."""
    import PySide6

    packages = Path(PySide6.__file__).parents[1]
    for name in ("PySide6", "paddle"):
        longest = max((len(str(path.relative_to(packages))) for path in packages.joinpath(name).rglob("*")), default=0)
        assert longest <= doctor._IN_PACKAGES
