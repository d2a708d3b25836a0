"""Command lines that can be pasted into the shell of the user: sh, cmd or PowerShell.

PowerShell starts a quoted program only after `&`, and Windows PowerShell 5 has no `&&`. A line without either works in
both shells of Windows, so words are quoted only if they must be.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from functools import cache

_WINDOWS_SHELLS = {"cmd.exe": "cmd", "powershell.exe": "powershell", "pwsh.exe": "powershell", "bash.exe": "sh"}
_SPECIAL = re.compile(r"[^\w./\\:+-]")  # characters for which cmd and PowerShell need quotes


@cache
def user_shell() -> str:
    """Return "sh", "cmd" or "powershell": the shell from which this program was started.

    On Windows it is PowerShell, which the system offers first, if the program was not started from a shell.
    """
    return shell_of(_programs_above()) if sys.platform == "win32" else "sh"


def shell_of(programs: Iterable[str]) -> str:
    """Return the first shell of Windows in the names of running programs, "powershell" if there is none."""
    return next((_WINDOWS_SHELLS[name] for name in map(str.lower, programs) if name in _WINDOWS_SHELLS), "powershell")


def command_line(words: Sequence[str], shell: str = "") -> str:
    """Return a program and its arguments as one line for a shell, by default that of the user.

    Words with characters that a shell would change are quoted.
    """
    shell = shell or user_shell()
    if shell == "sh":
        return shlex.join(words)
    line = " ".join(f'"{word}"' if _SPECIAL.search(word) or not word else word for word in words)
    return f"& {line}" if shell == "powershell" and line.startswith('"') else line


def in_sequence(*lines: str, shell: str = "") -> str:
    """Return one line that runs several command lines, one after another."""
    return ("; " if (shell or user_shell()) == "powershell" else " && ").join(lines)


def remove_variable(name: str, shell: str = "") -> str:
    """Return the line that removes an environment variable in the shell of the user."""
    commands = {"sh": "unset {}", "cmd": "set {}=", "powershell": "Remove-Item Env:{}"}
    return commands[shell or user_shell()].format(name)


def _programs_above() -> list[str]:
    """Return the names of the processes that started this one, the nearest first."""
    import psutil

    try:
        return [process.name() for process in psutil.Process().parents()]
    except psutil.Error:
        return []
