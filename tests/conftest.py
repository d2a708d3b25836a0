"""Shared fixtures: projects on disk, real images if available, and an isolated environment."""

from __future__ import annotations

import compileall
import contextlib
import functools
import gc
import importlib
import itertools
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if sys.platform == "win32":  # this platform brings no fonts, and does not ask the system for them
    os.environ.setdefault("QT_QPA_FONTDIR", r"C:\Windows\Fonts")

import hypothesis
import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tests.fork_server import SHORT_END, IdleThreads
from tests.forked_programs import ForkedPrograms
from tests.wine_faults import skip_faults
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs import child_process
from workbench.core.runs.launch import worker_environment
from workbench.inference.io.image_io import write_png
from workbench.ui.shell.startup import restore_import

IdleThreads.install()
restore_import()
ROOT = Path(__file__).resolve().parents[1]
NEVER = 24 * 60 * 60 * 1000  # ms


def pytest_configure(config):
    """Compile the application once, in the controlling process, and let pytest store the bytecode of the tests.

    Where Python may not write bytecode, each of several hundred child processes would compile the application again,
    and each worker the plugins of pytest.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # inherited by workers and child processes
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(ROOT / "workbench", quiet=2, workers=0)


def pytest_collection(session):
    """Import this worker's share of the tests first, so that each is compiled by one worker instead of by all."""
    gc.disable()  # nothing collected so far is garbage
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted(ROOT.glob("tests/**/test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # reported when the file is collected
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(items):
    skip_faults(items)


def pytest_collection_finish(session):
    """Exclude modules and collected tests from garbage collection: traversing them takes a second each time."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Collect the garbage of a test of the window in the main thread: a worker thread must not destroy a widget.

    At the end, when pytest has released the fixtures: what is excluded from collection now would never be freed.
    """
    if "qtbot" not in item.fixturenames:
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        if "one_window" not in item.fixturenames or nextitem is None or nextitem.module is not item.module:
            gc.freeze()  # the rest, mostly imported modules: later collections then take milliseconds
        gc.enable()


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Add one worker to those of `-n auto`: tests wait for child processes, timers and the disk."""
    count = yield
    return count if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else count + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker a contiguous part of the tests: those of a module share its fixtures and imports.

    A worker without tests takes over half of those that another one has left. Another `--dist` on the command line is
    kept.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.option.dist == "load" else None


# No limit of time for one example: the outcome of a test does not depend on the speed of the machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def _move_windows_home(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Redirect the folders that `platformdirs` asks Windows for."""
    for name in ("APPDATA", "LOCAL_APPDATA"):
        patch.setenv(f"WIN_PD_OVERRIDE_{name}", str(home / "windows"))


@pytest.fixture(scope="session", autouse=True)
def homes(tmp_path_factory) -> Iterator[Iterator[Path]]:
    """Iterator over new home folders. `mktemp` would search all folders of earlier tests for each one.

    Projects that several tests share are recorded in a home of their own.
    """
    folder = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("config", "data"):
            patch.setenv(f"XDG_{kind.upper()}_HOME", str(folder / "shared"))
        _move_windows_home(patch, folder / "shared")
        yield (folder / str(number) for number in itertools.count())


@pytest.fixture(scope="session")
def niceness_of_children() -> int:
    """Niceness of child processes outside of the tests."""
    return child_process.NICENESS


@pytest.fixture(scope="session")
def forked_programs(niceness_of_children) -> Iterator[ForkedPrograms]:
    """Fork the programs of the workbench, instead of importing Paddle again for each.

    Other settings of all tests are made here, too, because each fixture that all tests request takes several seconds.
    `fsync` is skipped in this process, since it protects against a loss of power, which no test simulates. The TLS
    settings of HTTP clients are shared: `httpx.get` would read all certificates for each request. Child processes have
    the niceness of the tests: one of lower priority waits for minutes on a busy core.
    """
    command_line = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    programs = ForkedPrograms(
        {"workbench": [command_line, worker_environment()], "workbench.training": [worker_environment("cpu")]}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        patch.setenv(SHORT_END, "1")
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        if os.name == "posix":
            patch.setattr(child_process, "NICENESS", os.getpriority(os.PRIO_PROCESS, 0))
        if sys.platform == "linux":
            patch.setattr(subprocess.Popen, "_execute_child", programs.method())
        yield programs
    programs.close()


@pytest.fixture(autouse=True)
def isolation(request, homes, forked_programs):
    """Redirect preferences and caches, and start new processes if asked to.

    Preferences and caches of the user running the tests are not changed. Programs are started as new processes, as the
    application does, only in tests marked `new_processes`. The application does not exclude its objects from garbage
    collection, whose end would make those of all tests collectable again.
    """
    forked_programs.enabled = request.node.get_closest_marker("new_processes") is None
    home = next(homes)
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("config", "cache", "data", "state"):
            patch.setenv(f"XDG_{kind.upper()}_HOME", str(home / kind))
        _move_windows_home(patch, home)
        if "qtbot" in request.fixturenames:
            patch.setattr("workbench.ui.shell.application.EXCLUSION_DELAY", NEVER)
        yield


class PatientQtBot(QtBot):
    """QtBot whose waits fail only after `PATIENCE`, however busy the machine is. They end as soon as they succeed.

    Waits that expect nothing to happen (`raising=False`, `assertNotEmitted`) keep their own time.
    """

    PATIENCE = 240_000  # ms

    def waitUntil(self, callback, *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=max(timeout, self.PATIENCE))

    def waitSignal(self, signal, *, timeout: int = PATIENCE, raising: bool | None = None, **options):
        timeout = timeout if raising is False else max(timeout, self.PATIENCE)
        return super().waitSignal(signal, timeout=timeout, raising=raising, **options)

    def waitSignals(self, signals, *, timeout: int = PATIENCE, raising: bool | None = None, **options):
        timeout = timeout if raising is False else max(timeout, self.PATIENCE)
        return super().waitSignals(signals, timeout=timeout, raising=raising, **options)


@pytest.fixture
def qtbot(qapp, request) -> PatientQtBot:
    return PatientQtBot(request)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real images: WORKBENCH_DATA, or the one beside the repository. Skip the test without it."""
    folder = Path(os.environ.get("WORKBENCH_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real pictures are not on this machine (set WORKBENCH_DATA to their folder)")
    return folder


def scratched(rng: np.random.Generator, width: int = 96, height: int = 80, defects: int = 1):
    """Return a noisy gray image with dark blobs, uint8 (height, width), and its exact mask (class 1) of equal shape."""
    image = rng.normal(150, 12, (height, width))
    mask = np.zeros((height, width), np.uint8)
    for _ in range(defects):
        x, y, r = rng.integers(12, width - 12), rng.integers(12, height - 12), rng.integers(4, 9)
        rows, columns = np.ogrid[:height, :width]
        mask[(columns - x) ** 2 + (rows - y) ** 2 <= r * r] = 1
    image[mask > 0] -= 70
    return np.clip(image, 0, 255).astype(np.uint8), mask


# Files of the images that `fill_project` has written in this process, by path, for each combination of its arguments.
_filled: dict[tuple, dict[str, bytes]] = {}


def fill_project(project: Project, count: int, *, seed: int = 0, good: int = 0, verdicts: bool = False) -> list[str]:
    """Write `count` labeled images with defects and `good` without. Return their keys."""
    keys = [f"lot{i // 4}/p{i * 7:03d}.png" for i in range(count + good)]
    palette = annotation.palette_bytes(project.classes)
    arguments = (count, seed, good, verdicts, palette)
    files = {path for key in keys for path in (project.image_path(key), project.mask_path(key), project.note_path(key))}
    if arguments in _filled:
        for folder in {path.parent for path in files}:
            folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            path.write_bytes(_filled[arguments][path.relative_to(project.root).as_posix()])
        return keys
    rng = np.random.default_rng(seed)
    for i, key in enumerate(keys):
        image, mask = scratched(rng, defects=1 if i < count else 0)
        write_png(project.image_path(key), image)
        annotation.save_mask(project, key, mask)
        note = annotation.Note(status="done")
        if verdicts:
            note.verdict = "NG" if i < count else "OK"
        annotation.save_note(project, key, note)
    _filled[arguments] = {path.relative_to(project.root).as_posix(): path.read_bytes() for path in files}
    return keys


@pytest.fixture
def project(tmp_path) -> Project:
    """An empty, writable project with one class, "scratch"."""
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        yield project


@pytest.fixture
def labeled_project(project) -> Project:
    """Project of twelve small images with defects and four without, all labeled, with verdicts."""
    fill_project(project, 12, good=4, verdicts=True)
    project.file.verdicts = ["OK", "NG"]
    project.save()
    return project
