"""Choice of PaddlePaddle's GPU build, and the fit of the installed one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli import doctor
from workbench.core.runs import pip_commands
from workbench.core.runs.gpu_facts import Gpu, GpuFacts, normal_bus_id, same_gpu, visible_gpus
from workbench.core.runs.pip_commands import (
    BUILDS,
    InstalledBuild,
    choose_build,
    command_line,
    in_sequence,
    mismatch,
    parse_version_file,
    remove_variable,
    shell_of,
)

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("name", "capability", "driver", "system", "build", "update"),
    [
        ("GTX 1060", (6, 1), "560.94", "Windows", "cu118", ""),
        ("GTX 1060", (6, 1), "560.35.03", "Linux", "cu126", ""),
        ("Tesla P100", (6, 0), "560.35.03", "Linux", "cu118", ""),
        ("Tesla V100", (7, 0), "560.94", "Windows", "cu118", ""),
        ("GTX 1660", (7, 5), "560.94", "Windows", "cu126", ""),
        ("RTX 3060", (8, 6), "560.94", "Windows", "cu126", ""),
        ("RTX 3060", (8, 6), "470.82.01", "Linux", "cu118", ""),
        ("RTX 4090", (8, 9), "511.65", "Windows", "cu118", ""),
        ("RTX 5090", (12, 0), "581.15", "Windows", "cu129", ""),
        ("RTX 5090", (12, 0), "572.16", "Windows", "cu129", "576.02"),
        ("B200", (10, 0), "580.65.06", "Linux", "cu129", ""),
        ("B300", (10, 3), "580.65.06", "Linux", "cu129", ""),
        ("H200", (9, 0), "570.124", "Linux", "cu126", ""),
        ("H200", (9, 0), "470.82", "Linux", "cu126", "525.60"),
        ("RTX 3060", (8, 6), "440.33", "Linux", "cu126", "525.60"),
        ("a later GPU", (13, 0), "600.1", "Linux", "cu130", ""),
        ("GTX 780", (3, 5), "470.82", "Linux", None, ""),
        ("unknown capability", None, "560.94", "Windows", "cu126", ""),
    ],
)
def test_build_fits_gpu_driver_and_system(name, capability, driver, system, build, update):
    choice = choose_build(Gpu(0, name, capability=capability), driver, system)
    assert (choice.build and choice.build.name) == build and choice.update == update


def test_every_build_has_an_index_and_drivers_for_both_systems():
    for build in BUILDS:
        assert build.index == f"https://www.paddlepaddle.org.cn/packages/stable/{build.name}/"
        assert set(build.drivers) == set(build.capabilities) == {"Linux", "Windows"}


def build_table() -> str:
    """Return the builds as the Markdown table of the guide."""
    lines = ["| GPU | index | driver on Linux | driver on Windows |", "|---|---|---|---|"]
    for build in BUILDS:
        linux, windows = (build.least_driver(system) for system in ("Linux", "Windows"))
        lines.append(f"| {build.gpus} | `{build.name}` | {linux} | {windows} |")
    return "\n".join(lines)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_guide_contains_the_table_of_builds(language):
    text = (ROOT / "resources" / "guide" / language / "installation.md").read_text("utf-8")
    rows = build_table().splitlines()[2:]
    assert all(row.rsplit("|", 4)[1:] == line.rsplit("|", 4)[1:] for row, line in zip(rows, _rows(text), strict=True))
    if language == "en":
        assert build_table() in text


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ") and "| `cu" in line]


VERSION_FILE = """
full_version     = '3.3.1'
cuda_version     = '12.6'
cudnn_version    = '9.9.0'
compiled_cuda_archs     = ['75', '80', '86', '89']
"""


def facts(capability, driver="560.94", system="Windows", cuda=(12, 6)) -> GpuFacts:
    return GpuFacts(system, (Gpu(0, "A GPU", 8 << 30, capability),), driver, cuda)


def test_version_file_is_read():
    assert parse_version_file(VERSION_FILE) == InstalledBuild(
        "3.3.1", (12, 6), "9.9.0", ((7, 5), (8, 0), (8, 6), (8, 9))
    )
    cpu = parse_version_file("full_version = '3.3.1'\ncuda_version = 'False'\ncudnn_version = 'False'\n")
    assert cpu == InstalledBuild("3.3.1", None)


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (facts((8, 6)), ""),
        (facts((12, 0)), "compiled for compute capability 7.5, 8.0, 8.6, 8.9, but A GPU has 12.0"),
        (facts((6, 1)), "but A GPU has 6.1"),
        (facts((8, 6), "472.12", cuda=(11, 4)), "the driver 472.12 (up to CUDA 11.4) is too old"),
        (GpuFacts("Windows", reason="no NVIDIA driver is installed"), ""),
    ],
)
def test_installed_build_is_compared_with_the_machine(machine, words):
    found = mismatch(parse_version_file(VERSION_FILE), machine)
    assert (words in found) if words else not found


GPUS = (Gpu(0, "GT 1030", uuid="GPU-aa1"), Gpu(1, "RTX 4090", uuid="GPU-bb2"), Gpu(2, "H100", uuid="GPU-cc3"))
MIG = Gpu(3, "H100", uuid="GPU-dd4", mig=("MIG-1f", "MIG-2f"), mig_enabled=True)


@pytest.mark.parametrize(
    ("visible", "names"),
    [
        (None, ["GPU-aa1", "GPU-bb2", "GPU-cc3", "GPU-dd4"]),
        ("", []),
        ("-1", []),
        ("1", ["GPU-bb2"]),
        ("2,0", ["GPU-cc3", "GPU-aa1"]),
        ("0,9,1", ["GPU-aa1"]),
        ("GPU-bb", ["GPU-bb2"]),
        ("GPU-", []),
        ("MIG-2f", ["GPU-dd4"]),
        ("1,1", ["GPU-bb2"]),
    ],
)
def test_visible_gpus_follow_the_variable(visible, names):
    assert [gpu.uuid for gpu in visible_gpus((*GPUS, MIG), visible)] == names


def test_bus_ids_of_cuda_and_of_the_driver_are_equal():
    assert normal_bus_id("00000000:0A:00.0") == normal_bus_id("0000:0a:00.0") == "0000:0a:00.0"
    assert same_gpu(("GPU-a", ""), ("gpu-A", "")) and same_gpu(("MIG-x", "0000:01:00.0"), ("GPU-a", "00000000:01:00.0"))
    assert not same_gpu(("", ""), ("", "")) and not same_gpu(("GPU-a", ""), ("GPU-b", ""))


PYTHON = r"C:\Users\Li Na\.venv\Scripts\python.exe"


def test_line_of_powershell_calls_a_quoted_program():
    assert command_line([PYTHON, "-m", "pip"], "powershell") == f'& "{PYTHON}" -m pip'
    assert command_line([PYTHON, "-m", "pip"], "cmd") == f'"{PYTHON}" -m pip'


@pytest.mark.parametrize("python", [r"C:\venv\Scripts\python.exe", "C:\\Users\\李娜\\venv\\Scripts\\python.exe"])
def test_line_without_a_space_in_the_program_works_in_both_shells(python):
    words = [python, "-m", "pip", "install", "numpy>=2", "defect-workbench[cpu]"]
    line = f'{python} -m pip install "numpy>=2" "defect-workbench[cpu]"'
    assert command_line(words, "cmd") == command_line(words, "powershell") == line


def test_lines_in_sequence():
    assert in_sequence("a", "b", shell="cmd") == in_sequence("a", "b", shell="sh") == "a && b"
    assert in_sequence("a", "b", shell="powershell") == "a; b"


def test_removal_of_an_environment_variable():
    lines = [remove_variable("A_B", shell) for shell in ("sh", "cmd", "powershell")]
    assert lines == ["unset A_B", "set A_B=", "Remove-Item Env:A_B"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs sh")
def test_line_of_sh_passes_the_words_on():
    words = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "a b", "numpy>=2,!=2.1", "$HOME", "it's"]
    done = subprocess.run(["sh", "-c", command_line(words, "sh")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(words[3:])


@pytest.mark.parametrize(
    ("programs", "shell"),
    [
        (["workbench.exe", "PowerShell.exe", "explorer.exe"], "powershell"),
        (["python.exe", "workbench.exe", "cmd.exe", "pwsh.exe"], "cmd"),
        (["bash.exe", "WindowsTerminal.exe"], "sh"),
        (["explorer.exe"], "powershell"),
        ([], "powershell"),
    ],
)
def test_shell_is_the_nearest_program_that_is_one(programs, shell):
    assert shell_of(programs) == shell


def test_pip_commands_are_those_of_the_shell(monkeypatch):
    monkeypatch.setattr(pip_commands, "user_shell", lambda: "powershell")
    monkeypatch.setattr(pip_commands.sys, "executable", PYTHON)
    command = pip_commands.replace_paddle_command(pip_commands.BUILDS[0])
    first, second = command.split("; ")
    assert first == f'& "{PYTHON}" -m pip uninstall -y paddlepaddle paddlepaddle-gpu'
    assert second.startswith(f'& "{PYTHON}" -m pip install "') and '"setuptools>=65"' in second and "&&" not in command


def test_python_without_paddlepaddle_gets_an_environment_of_another_version(monkeypatch):
    assert pip_commands.trains_here((3, 13)) and not pip_commands.trains_here((3, 14))
    monkeypatch.setattr(pip_commands, "trains_here", lambda: False)
    assert pip_commands.paddle_command_here().endswith("-m venv .venv-training")
    monkeypatch.setattr(doctor, "trains_here", lambda: False)
    found = doctor._python(doctor.Machine(quick=True))
    assert not found.fix and "everything but training, since PaddlePaddle has no package" in found.detail
