"""Completion, man page, constraints file and README of the packages."""

from __future__ import annotations

import gzip
import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import cli

ROOT = Path(__file__).resolve().parents[2]


def load(path: str):
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "packaging" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    written = load("linux/command_files.py").write_command_files(tmp_path_factory.mktemp("share"))
    return {path.name: path for path in written}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_knows_verbs_and_options(files):
    code = f"""source {files["workbench"]}
COMP_WORDS=(workbench ev); COMP_CWORD=1; _shtab_workbench; echo "${{COMPREPLY[@]}}"
COMP_WORDS=(workbench check --f); COMP_CWORD=2; _shtab_workbench; echo "${{COMPREPLY[@]}}"
COMP_WORDS=(workbench train --model re); COMP_CWORD=3; _shtab_workbench; echo "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["evaluate", "--fail", "resnet"], done.stderr
    assert "#compdef workbench" in files["_workbench"].read_text("utf-8")


def test_man_page_has_each_verb_and_no_errors(files):
    text = gzip.decompress(files["workbench.1.gz"].read_bytes()).decode()
    assert [verb for verb in cli.VERBS if f".SH {verb.upper()}\n" not in text] == []
    assert "workbench check my\\-project \\-\\-fail" in text and "%" in text and "(default: 5)" in text
    if shutil.which("groff"):
        command = ["groff", "-man", "-Kutf8", "-Tutf8", "-ww"]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        assert not done.stderr and "label surface defects" in done.stdout


def test_constraints_hold_the_installed_versions(tmp_path):
    code = f"import build, pathlib; print(build.constraints(pathlib.Path({str(tmp_path)!r})))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'packaging')!r}); {code}"]
    path = Path(subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout.strip())
    lines = path.read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {"numpy", "onnxruntime", "pydantic", "pydantic-core", "starlette", "anyio"} <= pinned.keys()
    assert not {"pytest", "ruff", "pyinstaller", "defect-workbench"} & pinned.keys()
    assert all(importlib.metadata.version(name) == version for name, version in pinned.items())


def test_readme_of_an_index_has_no_links_to_files():
    pytest.importorskip("hatchling")
    text = load("index_readme.py").index_readme((ROOT / "README.md").read_text("utf-8"))
    assert "](" not in text.replace("](http", "") and "<!--" not in text and "![" not in text and "文 · " not in text
    for words in ("pip install", "workbench demo sample-project", "workbench --help", "License: Apache-2.0"):
        assert words in text
