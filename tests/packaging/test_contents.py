"""Parts of the packed application: every file belongs to one, and the bill of materials lists exactly these."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture(scope="module")
def contents():
    spec = importlib.util.spec_from_file_location("packaging_contents", PACKAGING / "contents.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Installed:
    """Distribution with one file."""

    def __init__(self, name: str, file: Path) -> None:
        self.metadata, self.files, self._file = {"Name": name}, ["file"], file

    def locate_file(self, _: str) -> Path:
        return self._file


@pytest.fixture
def parts(contents, tmp_path):
    """Contents of an application with a package, a library of the system, its own file, and one of unknown origin."""
    names = ("site/numpy.so", "usr/lib/libz.so.1", "app/start.py", "elsewhere/odd.so")
    numpy, libz, own, odd = (tmp_path / name for name in names)
    return contents.find_contents(
        [numpy, libz, own, odd],
        [tmp_path / "app"],
        lambda files: {
            file: contents.SystemPackage("zlib1g", "1:1.2.13+b1", "zlib license") for file in files if file == libz
        },
        [Installed("numpy", numpy), Installed("pyinstaller-hooks-contrib", tmp_path / "site" / "hook.py")],
    )


def test_every_file_belongs_to_a_part_or_is_unknown(parts, tmp_path):
    assert parts.distributions == {"numpy"}
    assert [package.name for package in parts.system] == ["zlib1g"]
    assert parts.unknown == [str(tmp_path / "elsewhere" / "odd.so")]


def test_bill_lists_what_is_inside_and_nothing_else(contents, parts):
    bill = {
        "bomFormat": "CycloneDX",
        "components": [{"name": name, "bom-ref": name} for name in ("numpy", "build", "pytest")],
        "dependencies": [{"ref": "numpy"}, {"ref": "build", "dependsOn": ["numpy"]}],
    }
    found = contents.add_to_bill(bill, parts)
    assert [part["name"] for part in found["components"]] == ["numpy", "python", "zlib1g"]
    assert found["components"][-1]["purl"] == "pkg:deb/debian/zlib1g@1%3A1.2.13%2Bb1"
    assert found["dependencies"] == [{"ref": "numpy", "dependsOn": []}]
    json.dumps(found)


def test_a_part_that_the_bill_lacks_is_reported(contents, parts):
    with pytest.raises(LookupError, match="numpy"):
        contents.add_to_bill({"components": []}, parts)


def test_licenses_of_python_and_of_the_system_are_included(contents, parts):
    text = contents.further_licenses(parts)
    assert text.startswith("\nPython 3.") and "zlib1g 1:1.2.13+b1\nzlib license" in text


def test_sources_are_read_from_pyinstaller_s_tables(contents, tmp_path):
    python, library = str(tmp_path / "a.py"), str(tmp_path / "b.so")
    (tmp_path / "PYZ-00.toc").write_text(repr(("out", [("a", python, "PYMODULE")])), "utf-8")
    collected = [("b.so", library, "BINARY"), ("c.so", "libs/b.so", "SYMLINK")]
    (tmp_path / "COLLECT-00.toc").write_text(repr((collected,)), "utf-8")
    assert contents.collected_files(tmp_path) == {Path(python), Path(library)}


@pytest.mark.skipif(sys.platform == "win32" or not Path("/var/lib/dpkg/info").is_dir(), reason="needs a Debian system")
def test_debian_package_of_a_library(contents, tmp_path):
    shell = Path("/bin/sh").resolve()
    found = contents.debian_packages([shell, tmp_path / "none"])
    assert list(found) == [shell] and found[shell].version and len(found[shell].license) > 100


def test_files_of_this_environment_belong_to_their_distribution(contents):
    import psutil

    found = contents.find_contents([Path(psutil.__file__)], [], lambda files: {})
    assert found.distributions == {"psutil"} and not found.unknown and metadata.version("psutil")
