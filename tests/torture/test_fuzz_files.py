"""Seeded mutations of every kind of file that is read: only the known errors of its reader may be raised."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import random
import traceback
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, Signal

from tests.conftest import scratched
from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, _complete, gray_settings, spotted, write_onnx
from tests.torture.mutations import mutate, mutate_bytes
from workbench.cli import main
from workbench.core.evaluation import operating_point
from workbench.core.images.display import Display
from workbench.core.problems import Problem, RunBroken
from workbench.core.project import annotation
from workbench.core.project.class_merge import ClassMerge, newest_merge
from workbench.core.project.history import Patch
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs import events, gpu_facts, training_settings
from workbench.core.runs.child_process import to_problem
from workbench.core.runs.run import Run, create_run, find_run
from workbench.core.runs.run_history import diagnose, machine_path, read_past, run_line
from workbench.core.runs.run_series import STEP_VALUES, RunSeries
from workbench.core.runs.training_settings import request
from workbench.core.suggestions.suggestion_files import StoredSuggestions, load_stored, suggestions_path, write_stored
from workbench.inference.batch.export_package import self_test, verify_checks
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.batch.results_log import RESULTS_LOG_FILE, ResultsLogError
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import SettingsError, load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.session import display_presets
from workbench.session.journal import decode_records, encode_record
from workbench.session.preferences import Preferences
from workbench.training import checkpoint
from workbench.training.encoder_weights import parse_weights

METRICS = {
    "dice": 0.8,
    "iou": 0.7,
    "pictures": 4,
    "only_background": False,
    "regions": {"found": 11, "defects": 12, "recall": 0.9, "false_per_picture": 0.3},
}
VERDICTS = {"accuracy": 0.9, "macro_f1": 0.8, "pictures": 10, "confusion": {"names": ["OK"], "rows": [[10]]}}
EVENTS = (
    events.Started(
        model="unet",
        device="gpu:0",
        device_name="Card",
        pictures={"train": 3, "val": 1},
        process=2**22,
        held_out_note="Few.",
        seconds_planned=60.0,
    ),
    *(
        events.Step(
            step=n,
            time=n / 10,
            loss=2 / (n + 1),
            rate=0.01,
            grad_norm=1.0,
            loss_scale=2.0**n,
            data_wait=0.3,
            images_per_second=90.0,
            progress=n / 30,
        )
        for n in range(30)
    ),
    events.Evaluated(step=9, time=1, metrics=METRICS, score=0.5, best=True),
    events.Evaluated(step=19, time=2, metrics=VERDICTS, score=0.4, best=True),
    events.Preview(
        step=5,
        time=1,
        picture="lot0/p000.png",
        mask="previews/a.5.mask.png",
        size=[96, 80],
        scores="previews/a.5.scores.png",
        thresholds=[0.5],
        min_area=[3],
    ),
    events.Checkpoint(step=5, which="best"),
    events.Trouble(what="The picture {x} is broken.", done="It is left out.", picture="lot0/p000.png"),
    events.LabelsAdded(step=7, picture="lot0/p000.png", how="new"),
    events.BestKept(step=8, round=1),
    events.Profiled(what="Where the time goes", folder="profile"),
    events.Progress(what="Looking", done=1, total=3),
    events.Failed(why="It broke.", problem="WorkerFailed", fields={"what": "training", "why": "x", "log": "y"}),
    events.Finished(time=65, result={"metrics": METRICS, "usable": True, "steps": 30, "seconds": 60.0}),
)
SAMPLE = gpu_facts.SystemSample(
    time=0,
    cpu=40.0,
    ram_used=1 << 30,
    ram_total=4 << 30,
    gpus=(gpu_facts.GpuSample(0, "Card", 50.0, 1 << 30, 8 << 30, 60.0, 100.0, 1500.0),),
)


@dataclass
class Target:
    """One kind of file. read: the real reader; known: its known errors. binary: the file holds no JSON."""

    path: Path
    read: Callable[[], object]
    known: tuple[type[Exception], ...] = (Problem,)
    binary: bool = False


def attack(target: Target, count: int, seed: int) -> list[str]:
    """Read `count` mutations of a file. Return the unknown errors, each with the number that seeds its mutation."""
    whole = target.path.read_bytes()
    failures = []
    target.read()
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        target.path.write_bytes((mutate_bytes if target.binary else mutate)(whole, rng))
        try:
            target.read()
        except target.known:
            pass
        except Exception as error:
            place = "".join(traceback.format_tb(error.__traceback__)[-2:])
            failures.append(f"{number}: {type(error).__name__}: {str(error)[:200]}\n{place}")
    target.path.write_bytes(whole)
    return failures


@pytest.fixture
def run(labeled_project) -> Run:
    """Run with a model, a history and an operating point chosen by a user, made without training."""
    run = create_run(labeled_project, request("unet", minutes=0.1, device="cpu"))
    write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(), run.best / "model.json")
    point = operating_point.read(run).trained
    operating_point.store(run, point.at(0, threshold=0.7, area=9), chosen_on=["val"])
    run.events_path.write_text("\n".join(map(events.encode, EVENTS)) + "\n", "utf-8")
    lines = [gpu_facts.encode_sample(second, SAMPLE) for second in range(20)]
    machine_path(run).write_text("\n".join(lines) + "\n", "utf-8")
    for name in ("mask", "scores"):
        write_png(run.root / "previews" / f"a.5.{name}.png", np.zeros((80, 96), np.uint8))
    return run


@pytest.fixture
def export(tmp_path) -> Path:
    folder = tmp_path / "export"
    write_onnx(folder / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    return _complete(folder, gray_settings(), [spotted(np.random.default_rng(5), 40, 50)])


def cli(*words: object) -> None:
    """Run a verb in this process. Fail on an error that is no Problem."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main([*map(str, words), "--json"])
    message = json.loads(out.getvalue())
    assert status == 0 or not message["error"].startswith("Unexpected"), message


def past_of(run: Run) -> None:
    """Call everything in core that evaluates the events of a run."""
    past = read_past(run)
    diagnose(past.state)
    for name in (*STEP_VALUES, "score", "cpu", "smoothed"):
        past.series.at(name, 1.0)
        if past.series.has(name):
            past.series.points(name)
    past.series.smoothed()
    run.best_evaluation()
    run_line(run)
    ending = run.ending()
    if isinstance(ending, events.Failed):
        str(to_problem(ending, "training", run.log_path))


# --- files of a project ------------------------------------------------------------------------------


def _project(project: Project, run: Run) -> Target:
    def read() -> None:
        found = Project.open(project.root, write=False)
        for key in found.images():
            annotation.load_mask(found, key)

    return Target(project.root / "project.json", read)


def _note(project: Project, run: Run) -> Target:
    key = project.images()[0]
    return Target(project.note_path(key), lambda: annotation.load_note(project, key))


def _mask(project: Project, run: Run) -> Target:
    key = project.images()[0]
    return Target(project.mask_path(key), lambda: annotation.load_mask(project, key, (96, 80)), binary=True)


def _display(project: Project, run: Run) -> Target:
    presets = {"bright": Display(low=10, high=90, gamma=1.5)}
    display_presets.save_displays(project, display_presets.DisplayFile(presets=presets, good_sample="lot0/p000.png"))

    def read() -> None:
        for display in display_presets.load_displays(project).presets.values():
            display.apply(np.zeros((4, 4), np.uint8))

    return Target(project.root / "display.json", read)


def _training(project: Project, run: Run) -> Target:
    training_settings.save_overrides(
        project, training_settings.SettingsOverrides(unet={"patch": 128, "batch": 4, "mirror": True})
    )
    return Target(project.root / "training.json", lambda: training_settings.load_overrides(project))


def _proposals(project: Project, run: Run) -> Target:
    key = project.images()[0]
    pixels = base64.b64encode(zlib.compress(b"\xf0")).decode()
    region = {"class_id": 1, "x": 1, "y": 2, "width": 8, "height": 1, "score": 0.9, "pixels": pixels}
    write_stored(
        project, key, StoredSuggestions.model_validate({"model": "m", "width": 96, "height": 80, "regions": [region]})
    )
    return Target(suggestions_path(project, key), lambda: load_stored(project, key))


def _plan(project: Project, run: Run) -> Target:
    change = ClassMerge.prepare(project, [1], 0)
    change.begin()

    def read() -> None:
        found = newest_merge(project)
        if found is not None:
            found.rewritten(project.images()[0], np.zeros((4, 4), np.uint8))
            str((found.plan.names, found.plan.target))

    return Target(change.folder / "plan.json", read)


def _journal(project: Project, run: Run) -> Target:
    path = project.root / "journal" / "record.bin"
    key = project.images()[0]
    patch = Patch(key, "paint", b"", b"", b"", None, 0.0)
    path.write_bytes(b"".join(encode_record(patch, (96, 80)) for _ in range(3)))
    return Target(path, lambda: list(decode_records(path.read_bytes())), (), binary=True)


def _preferences(project: Project, run: Run) -> Target:
    path = project.root / "settings.json"
    Preferences(recent_projects=["a"], last_pictures={"a": "b"}).save(path)
    return Target(path, lambda: Preferences.load(path), ())


# --- files of a run ----------------------------------------------------------------------------------


def _recipe(project: Project, run: Run) -> Target:
    def read() -> None:
        run_line(run)
        checkpoint.settings_hash(run.settings())

    return Target(run.settings_path, read)


def _dataset(project: Project, run: Run) -> Target:
    def read() -> None:
        run_line(run)
        data = run.dataset()
        str((data.of("train", "val"), data.held_out_hash))
        find_run(project.root, "best")

    return Target(run.dataset_path, read)


def _events(project: Project, run: Run) -> Target:
    return Target(run.events_path, lambda: past_of(run), ())


def _machine(project: Project, run: Run) -> Target:
    def read() -> None:
        series = RunSeries()
        for at, sample in gpu_facts.read_samples(machine_path(run)):
            series.add_sample(at, sample)

    return Target(machine_path(run), read, ())


def _model(project: Project, run: Run) -> Target:
    return Target(run.best / "model.json", lambda: load_settings(run.best / "model.json"), (SettingsError,))


def _point(project: Project, run: Run) -> Target:
    def read() -> None:
        chosen = operating_point.read(run)
        chosen.trained.on(operating_point.settings_of(run))

    return Target(run.root / operating_point.FILE, read)


def _state(project: Project, run: Run) -> Target:
    tensors = {"weights": {"a": np.ones(3, np.float32)}, "optimiser": {}, "average": {"a": np.zeros(3, np.float32)}}
    checkpoint.save_last(run, 7, tensors, {"elapsed": 3.0, "course": {"skipped": 0}, "best": {"score": None}})
    saved = {path.name: path.read_bytes() for path in run.last.iterdir() if path.name != "state.json"}
    outside = run.root.parent / "outside.safetensors"
    outside.write_bytes(b"x")

    def read() -> None:
        for name, data in saved.items():
            (run.last / name).write_bytes(data)
        try:
            checkpoint.load_last(run)
            checkpoint.save_last(run, 8, tensors, {})
        finally:
            assert outside.exists()

    return Target(run.last / "state.json", read, (RunBroken,))


def _weights(project: Project, run: Run) -> Target:
    path = run.best / checkpoint.WEIGHTS
    checkpoint.save_arrays(path, {"a": np.ones((3, 4), np.float32), "b": np.zeros(2, np.int64)}, {"step": 3})

    def read() -> None:
        checkpoint.about_arrays(path)
        with contextlib.suppress(Problem):
            checkpoint.load_arrays(path)
        parse_weights(path.read_bytes(), str(path))

    return Target(path, read, binary=True)


KINDS: dict[str, Callable[[Project, Run], Target]] = {
    "project.json": _project,
    "note": _note,
    "mask": _mask,
    "display.json": _display,
    "training.json": _training,
    "proposals": _proposals,
    "class change": _plan,
    "journal": _journal,
    "preferences": _preferences,
    "recipe.json": _recipe,
    "dataset.json": _dataset,
    "events.jsonl": _events,
    "system_stats.jsonl": _machine,
    "model.json": _model,
    "operating point": _point,
    "state.json": _state,
    "weights": _weights,
}


def test_damaged_files_of_a_project_give_known_errors(labeled_project, run, cases, report):
    count, received = cases(12, 2000), []
    for kind, make in KINDS.items():
        failures = attack(make(labeled_project, run), count, seed=1)
        report(f"damaged file: {kind}", count, len(failures))
        received += [f"{kind}: {len(failures)} of {count}"] * bool(failures) + failures[:3]
    assert not received, "\n".join(received)


def test_damaged_projects_are_checked_by_the_command_line(labeled_project, cases, report):
    for path in sorted((labeled_project.root / "pictures").rglob("*.png"))[3:]:
        path.unlink()
    count = cases(4, 300)
    targets = [labeled_project.root / "project.json", next((labeled_project.root / "notes").rglob("*.json"))]
    failures = []
    for path in targets:
        failures += attack(Target(path, lambda: cli("check", labeled_project.root), ()), count, seed=2)
    report("damaged project.json and note: workbench check", 2 * count, len(failures))
    assert not failures, "\n".join(failures[:5])


# --- labels of other tools ---------------------------------------------------------------------------


def _import_all(project: Project, folder: Path, good: str) -> None:
    found = import_labels(project, folder, format="auto", overwrite=True)
    assert any(good in key for key in project.images()), found
    skipped = {Path(path).stem for path, _ in found.skipped}
    assert Path(good).stem not in skipped, found.skipped


@pytest.fixture
def image_and_mask() -> tuple[np.ndarray, np.ndarray]:
    return scratched(np.random.default_rng(3))


def test_a_damaged_labelme_file_does_not_end_the_import(project, tmp_path, image_and_mask, cases, report):
    shape = {"label": "scratch", "points": [[10.5, 10], [40, 12], [30, 50]], "shape_type": "polygon", "flags": {}}
    for name in ("damaged", "good"):
        write_png(tmp_path / "in" / f"{name}.png", image_and_mask[0])
        content = {
            "version": "5.3.1",
            "flags": {"NG": True},
            "shapes": [shape],
            "imagePath": f"{name}.png",
            "imageData": None,
            "imageHeight": 80,
            "imageWidth": 96,
        }
        write_json(tmp_path / "in" / f"{name}.json", content)
    count = cases(10, 2000)
    read = Target(tmp_path / "in" / "damaged.json", lambda: _import_all(project, tmp_path / "in", "good.png"), ())
    failures = attack(read, count, seed=3)
    report("damaged labelme file among others: import", count, len(failures))
    assert not failures, "\n".join(failures[:5])


def test_a_damaged_mask_does_not_end_the_import(project, tmp_path, image_and_mask, cases, report):
    folder = tmp_path / "in"
    for name in ("damaged", "good"):
        write_png(folder / "images" / f"{name}.png", image_and_mask[0])
        write_png(folder / "masks" / f"{name}.png", image_and_mask[1])
    (folder / "labels.txt").write_text("__ignore__\n_background_\nscratch\n", "utf-8")
    count, failures = cases(3, 250), []
    for name in ("masks/damaged.png", "images/damaged.png", "labels.txt"):

        def read() -> None:
            with contextlib.suppress(Problem):
                import_labels(project, folder, format="png", overwrite=True)

        failures += attack(Target(folder / name, read, (), binary=True), count, seed=4)
    report("damaged mask, picture and labels.txt: import", 3 * count, len(failures))
    assert not failures, "\n".join(failures[:5])


# --- files of an export and of its results -----------------------------------------------------------


def test_a_damaged_ledger_gives_known_errors_and_the_folder_is_unchanged(export, tmp_path, cases, report):
    out, images = tmp_path / "deep" / "deeper" / "out", tmp_path / "pictures"
    for number in range(3):
        write_png(images / f"{number}.png", spotted(np.random.default_rng(number), 30, 40))
    predictor = Predictor.open(export)
    sources, _ = collect_images([images])

    def read() -> None:
        with ResultsFolder(out, predictor, fingerprint="f", resume=True) as folder:
            predict_all(folder, sources)
            assert len(folder.report()["pictures"]) >= 3
        assert set((tmp_path / "deep").iterdir()) == {out.parent} and set(out.parent.iterdir()) == {out}
        assert {path.name for path in tmp_path.iterdir()} == beside

    with ResultsFolder(out, predictor, fingerprint="f") as folder:
        predict_all(folder, sources)
    beside = {path.name for path in tmp_path.iterdir()}
    lines = (out / RESULTS_LOG_FILE).read_bytes().splitlines(keepends=True)
    assert len(lines) == 4

    def reset() -> None:
        for path in (out / "masks", out / "overlays"):
            for file in path.rglob("*.png"):
                if file.name not in {"0.png", "1.png", "2.png"}:
                    file.unlink()
        with contextlib.suppress(ResultsLogError):
            read()

    count = cases(6, 250)
    failures = attack(Target(out / RESULTS_LOG_FILE, reset, ()), count, seed=5)
    report("damaged results.jsonl: continue", count, len(failures))
    assert not failures, "\n".join(failures[:5])


def test_damaged_files_of_an_export_give_sentences(export, cases, report):
    predictor = Predictor.open(export)
    golden = sorted(path.relative_to(export).as_posix() for path in (export / "golden").rglob("*.json"))
    assert len(golden) == 2
    for name in ("checks.json", "model.json", *golden):

        def read(name=name) -> None:
            found = self_test(export, predictor, quick=True) if name in golden else verify_checks(export)
            assert all(isinstance(sentence, str) for sentence in found)
            if name == "model.json":
                load_settings(export / name)

        count = cases(10, 250 if name in golden else 2000)
        failures = attack(Target(export / name, read, (SettingsError,)), count, seed=6)
        report(f"damaged export: {name}", count, len(failures))
        assert not failures, "\n".join([name, *failures[:5]])


# --- the window --------------------------------------------------------------------------------------


class Machine(QObject):
    """Telemetry stub that sends nothing."""

    sampled = Signal(object)


def test_a_damaged_run_is_shown_without_a_traceback(labeled_project, run, qtbot, qapp, cases, report):
    """Test that the session follows the events and the panel's view draws them; an error in a slot fails the test."""
    from workbench.session.session import Session
    from workbench.session.training.shown_runs import RunList, RunMonitor
    from workbench.session.training.training_control import TrainingControl
    from workbench.ui.training.run_dashboard import RunDashboard
    from workbench.ui.widgets.theme import ThemeManager

    root = labeled_project.root
    labeled_project.close()
    session = Session()
    session.open_project(root)
    training = TrainingControl(session)
    story = RunMonitor(session, training, Machine())
    run_list = RunList(session, training)
    view = RunDashboard(ThemeManager(qapp), story, run_list)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    training.ended.connect(lambda ending: view.end(ending, notify=True))
    training.reported.connect(lambda event: view.add_event(event, live=True))
    count = cases(6, 100)
    whole = {path: path.read_bytes() for path in (run.events_path, run.dataset_path, machine_path(run))}
    try:
        for number in range(count):
            rng = random.Random(f"window {number}")
            for path, data in whole.items():
                path.write_bytes(mutate(data, rng) if path == run.events_path or rng.random() < 0.2 else data)
            training.follow(run)
            qtbot.waitUntil(lambda: training._thread is None, timeout=30_000)
            view.show_whole_run()
            view.grab()
            training.previews.get("lot0/p000.png")
    finally:
        training.close()
        story.close()
        session.close_project()
    report("damaged run in the training view", count, 0)
