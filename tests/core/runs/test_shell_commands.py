"""Command lines that can be pasted into sh, cmd and PowerShell."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.core.runs import pip_commands
from workbench.core.runs.pip_commands import command_line, in_sequence, remove_variable, shell_of

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
