"""Programs that the system ends or refuses for their use of memory."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import fill_project
from workbench.core.project.project import Project

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def memory_group(megabytes: int) -> Iterator[Path]:
    """Make a control group whose processes may use so much memory. Yield the file that takes their ids."""
    for parent, limit in (("memory", "memory.limit_in_bytes"), ("", "memory.max")):
        group = Path("/sys/fs/cgroup", parent, f"workbench-test-{os.getpid()}")
        with contextlib.ExitStack() as made:
            try:
                group.mkdir()
                made.callback(group.rmdir)
                with (group / limit).open("r+") as file:
                    file.write(str(megabytes << 20))
            except OSError:
                continue
            yield group / "cgroup.procs"
            return
    pytest.skip("making a control group of the memory needs root")


@pytest.mark.new_processes
def test_trainer_ended_for_its_memory(tmp_path, report, size):
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        fill_project(project, 6)
    with memory_group(250) as processes:  # less than Paddle needs
        code = f"""
import os, subprocess, sys
open({str(processes)!r}, "w").write(str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", "workbench", *sys.argv[1:]])
"""
        command = [sys.executable, "-c", code, "train", str(tmp_path / "p"), "--model", "unet", "--minutes", "1"]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "Unexpected" not in done.stderr
    assert "ran out of memory" in json.loads(done.stdout)["error"]
    report("trainer ended by the system for its memory", 1, 0)
