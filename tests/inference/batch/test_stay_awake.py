"""Keeping the computer awake: a stand-in for systemd's program shows when it is asked for."""

from __future__ import annotations

import sys

import pytest

from workbench.inference.batch.stay_awake import allow_sleep, stay_awake

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="systemd is a part of Linux")


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """File in which the stand-in writes its arguments, and `end` once its input has ended."""
    lines = ("#!/bin/sh", f'echo "$@" >> {tmp_path}/asked', "cat", f"echo end >> {tmp_path}/asked")
    (tmp_path / "systemd-inhibit").write_text("\n".join(lines) + "\n")
    (tmp_path / "systemd-inhibit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("WORKBENCH_ALLOW_SLEEP", "")
    return tmp_path / "asked"


def test_computer_stays_awake_until_the_end(asked):
    with stay_awake("a training runs"):
        while not asked.exists() or "training" not in asked.read_text():
            pass
        assert "--what=idle:sleep" in asked.read_text() and "end" not in asked.read_text()
    assert asked.read_text().endswith("end\n")


def test_switch_lets_the_computer_sleep(asked):
    allow_sleep(True)
    with stay_awake("a training runs"):
        pass
    assert not asked.exists()
