"""Zip archives of labels: unpacked while an import runs, and removed after one that was killed."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from workbench.core.project.project import Project
from workbench.core.project.storage import remove_leftovers

_UNPACK = """
import sys, time
from pathlib import Path
from workbench.core.project.label_files import unpacked
from workbench.core.project.project import Project

with unpacked(Project.open(sys.argv[1], write=False), Path(sys.argv[2])) as folder:
    print(folder.name, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def unpacking(tmp_path):
    """Process that uses an archive unpacked in the project, and the folder of the files."""
    Project.create(tmp_path / "project").close()
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        archive.writestr("images/a.json", "{}")
    arguments = [sys.executable, "-c", _UNPACK, str(tmp_path / "project"), str(tmp_path / "labels.zip")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        folder = tmp_path / "project" / ".cache" / process.stdout.readline().strip()
        yield process, folder
        process.kill()


def test_files_of_a_killed_import_are_removed(tmp_path, unpacking):
    process, folder = unpacking
    with Project.open(tmp_path / "project") as project:
        remove_leftovers(project.root)
        assert (folder / "images" / "a.json").is_file()  # in use
        process.kill()
        process.wait()
        remove_leftovers(project.root)
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith("import-")] == []


def test_a_folder_without_a_lock_is_removed_and_other_caches_stay(tmp_path):
    with Project.create(tmp_path / "project") as project:
        for name in ("import-abc123_x", "thumbnails", "import"):
            (project.root / ".cache" / name).mkdir(parents=True, exist_ok=True)
            (project.root / ".cache" / name / "file").write_text("x")
        remove_leftovers(project.root)
        remaining = {path.name for path in (project.root / ".cache").iterdir()}
    assert "import-abc123_x" not in remaining and {"thumbnails", "import"} <= remaining
