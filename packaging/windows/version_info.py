"""Version resource of the Windows executables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def version() -> str:
    """Return the version of the application, read without importing it."""
    text = (ROOT / "workbench" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert match, "workbench/__init__.py has no version"
    return match[1]


def version_info() -> Any:
    """Return PyInstaller's description of the version resource."""
    from PyInstaller.utils.win32 import versioninfo

    text = version()
    numbers = ([int(part) for part in re.findall(r"\d+", text)] + [0, 0, 0, 0])[:4]
    strings = {
        "FileDescription": "Defect Workbench",
        "ProductName": "Defect Workbench",
        "FileVersion": text,
        "ProductVersion": text,
        "LegalCopyright": "Apache License 2.0",
    }
    table = versioninfo.StringTable("040904B0", [versioninfo.StringStruct(*item) for item in strings.items()])
    return versioninfo.VSVersionInfo(
        ffi=versioninfo.FixedFileInfo(filevers=tuple(numbers), prodvers=tuple(numbers)),
        kids=[
            versioninfo.StringFileInfo([table]),
            versioninfo.VarFileInfo([versioninfo.VarStruct("Translation", [0x0409, 1200])]),
        ],
    )
