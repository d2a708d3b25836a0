"""Parts of the packed application, by the files that PyInstaller has collected, for licenses and bill of materials.

The Python environment of the build is no list of them: it also contains the tools of the build, and lacks Python itself
and the libraries of the system.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

_TABLES = ("COLLECT-00.toc", "PYZ-00.toc")  # PyInstaller's tables of (name, source, kind)
_DOCUMENTS, _COMMON_LICENSES = Path("/usr/share/doc"), Path("/usr/share/common-licenses")
_WITHOUT_TEXT = ("LGPL-3", "GPL-3", "Apache-2.0", "BSD")  # licenses of PySide6 and others, whose wheels have no text


@dataclass(frozen=True)
class SystemPackage:
    """Package of the Linux distribution from which libraries were collected. license: text of its license."""

    name: str
    version: str
    license: str = ""


@dataclass
class Contents:
    """Parts of the packed application. unknown: files that belong to no part."""

    distributions: set[str] = field(default_factory=set)
    system: list[SystemPackage] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def collected_files(folder: Path) -> set[Path]:
    """Return the sources of all files in the packed application, from the tables in PyInstaller's working folder."""
    files = set()
    for name in _TABLES:
        for part in ast.literal_eval((folder / name).read_text("utf-8")):
            # Links inside of the application have a relative source.
            files |= {Path(entry[1]) for entry in part if os.path.isabs(entry[1])} if isinstance(part, list) else set()
    return files


def find_contents(
    files: Iterable[Path],
    own: Iterable[Path],
    packages_of: Callable[[Iterable[Path]], dict[Path, SystemPackage]] | None = None,
    distributions: Iterable[metadata.Distribution] | None = None,
) -> Contents:
    """Assign each file to a part.

    own: folders of the application and of its build. packages_of: returns the packages of libraries of the system. By
    default those of this Python and of this system.
    """
    owners: dict[Path, str] = {}
    for found in metadata.distributions() if distributions is None else distributions:
        name = found.metadata["Name"]  # read from a file at each access
        owners.update((_absolute(found.locate_file(file)), name) for file in found.files or ())
    folders = [Path(sys.base_prefix), Path(sysconfig.get_path("stdlib")), *(Path(base) for base in own)]
    sources = {_absolute(file) for file in files}
    others = [file for file in sources - owners.keys() if not any(file.is_relative_to(folder) for folder in folders)]
    packages = (packages_of or debian_packages)(others)
    return Contents(
        {owners[file] for file in sources & owners.keys()},
        sorted(set(packages.values()), key=lambda package: package.name),
        sorted(str(file) for file in others if file not in packages),
    )


def debian_packages(files: Iterable[Path]) -> dict[Path, SystemPackage]:
    """Return the Debian packages of files, without those that belong to none; nothing on another system."""
    if not shutil.which("dpkg-query"):
        return {}
    # Where /lib is a link to /usr/lib, packages own either name.
    names = {file: {str(file), str(file).removeprefix("/usr"), f"/usr{file}", str(file.resolve())} for file in files}
    owners: dict[str, str] = {}
    for line in _query("-S", *sorted(set().union(*names.values()))):
        package, _, name = line.partition(": ")
        owners[name] = package.split(",")[0]
    versions = dict(line.split(" ") for line in _query("-W", "-f", "${binary:Package} ${Version}\\n"))
    found = {}
    for file, possible in names.items():
        package = next((owners[name] for name in sorted(possible) if name in owners), "")
        if package:
            plain = package.partition(":")[0]
            text = _DOCUMENTS / plain / "copyright"
            license = text.read_text("utf-8", "replace") if text.is_file() else ""
            found[file] = SystemPackage(plain, versions.get(package) or versions.get(plain, ""), license)
    return found


def add_to_bill(bill: dict[str, Any], contents: Contents) -> dict[str, Any]:
    """Return a CycloneDX bill of an environment with exactly the parts of the packed application."""
    inside = {_normal(name) for name in contents.distributions}
    parts = [part for part in bill.get("components", ()) if _normal(part["name"]) in inside]
    missing = inside - {_normal(part["name"]) for part in parts}
    if missing:
        raise LookupError(f"the bill of materials has no {', '.join(sorted(missing))}")
    parts.append(_component("python", platform.python_version(), "pkg:generic/python", "Python-2.0"))
    parts += [_component(found.name, found.version, "pkg:deb/debian") for found in contents.system]
    references = {part["bom-ref"] for part in parts} | {bill.get("metadata", {}).get("component", {}).get("bom-ref")}
    links = [
        {**entry, "dependsOn": [name for name in entry.get("dependsOn", ()) if name in references]}
        for entry in bill.get("dependencies", ())
        if entry["ref"] in references
    ]
    return {**bill, "components": parts, "dependencies": links}


def further_licenses(contents: Contents) -> str:
    """Return the licenses of Python and of the libraries of the system, with the full texts that they refer to."""
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    texts = [f"Python {platform.python_version()}\n{python.read_text('utf-8') if python.is_file() else 'Python-2.0'}"]
    texts += [f"{found.name} {found.version}\n{found.license}" for found in contents.system]
    named = {*_WITHOUT_TEXT, *re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", "".join(texts))}
    files = [_COMMON_LICENSES / name for name in sorted(named)]
    texts += [f"{file.name}\n{file.read_text('utf-8', 'replace')}" for file in files if file.is_file()]
    return "".join(f"\n{text.rstrip()}\n" for text in texts)


def _component(name: str, version: str, place: str, license: str = "") -> dict[str, Any]:
    base = place if place.endswith(f"/{name}") else f"{place}/{name}"
    reference = f"{base}@{version.replace('+', '%2B').replace(':', '%3A')}"
    component = {"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference}
    return component | ({"licenses": [{"license": {"id": license}}]} if license else {})


def _query(*arguments: str) -> list[str]:
    """Return the lines that dpkg-query prints. It fails if one of several files has no package."""
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True).stdout.splitlines()


def _absolute(path: Any) -> Path:
    return Path(os.path.normpath(os.path.abspath(path)))


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
