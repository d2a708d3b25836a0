"""Verb `demo`: generate a project, train, evaluate, export and run the self-test of each export."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import Any

from workbench.cli.evaluate import evaluate
from workbench.cli.export import export, parity_text
from workbench.cli.train import follow, summary
from workbench.cli.verb_runner import Console, percent
from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.export_options import COMMAND_LINE_FORMATS, ExportOptions
from workbench.core.runs.launch import is_frozen, paddle_installed
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.core.runs.run import Run
from workbench.core.runs.training_process import new_run
from workbench.core.runs.training_settings import request
from workbench.core.sample.sample_project import best_threshold_dice, make_sample
from workbench.core.text_patterns import counted
from workbench.inference.batch import runner
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.predictor import Predictor

# Chosen so that the whole demo takes less than eight minutes on two CPU cores. Small patches and narrow layers allow
# many steps in that time; the training settings planned by default suit longer runs.
MINUTES = {"unet": 2.5, "resnet": 1.8}
CHOICES: dict[str, dict[str, Any]] = {
    "unet": {"patch": 128, "quality": "fast"},
    "resnet": {},
}


_SELF_TEST_SECONDS = 600.0  # time limit


class SelfTestFailed(problems.Problem):
    message = "The export {path} failed its self-test: {why}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dir",
        nargs="?",
        type=Path,
        default=Path("sample-project"),
        metavar="DIR",
        help="folder to create (sample-project)",
    )
    usual = " and ".join(f"{minutes:g}" for minutes in MINUTES.values())
    minutes = f"training time of each of the two models in minutes ({usual})"
    parser.add_argument("--minutes", type=float, metavar="M", help=minutes)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    began = time.perf_counter()
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    root = options.dir.absolute()
    settings = {
        model: request(model, minutes=options.minutes or minutes, **CHOICES[model])
        for model, minutes in MINUTES.items()
    }
    with console.progress("creating the sample project") as move:
        make_sample(root, progress=move).close()
    console.line(f"Sample project: {root}")
    result: dict[str, Any] = {"project": root}
    for model, model_settings in settings.items():
        result[model] = _one_model(root, model_settings, console)
    result["unet"]["threshold_dice"] = _threshold_dice(result["unet"], root)
    result["overlays"] = _overlays(result["unet"], root, console)
    result["seconds"] = round(time.perf_counter() - began, 1)
    _print_result(result, root, console)
    return result


def _one_model(root: Path, settings: Any, console: Console) -> dict[str, Any]:
    """Train, evaluate and export one model, and run the export's self-test."""
    trained = follow(new_run(root, settings), console)
    run = Run(trained["path"])
    _, measured = evaluate(run, console)
    # A short benchmark is enough for a demo.
    exported = export(run, console, ExportOptions(COMMAND_LINE_FORMATS, seconds=2))
    _self_test(Path(exported["path"]))
    console.line(
        f"{settings.model}: {counted(trained['steps'], 'step')} in {trained['seconds']:.0f} s, "
        f"then {measured['split']}: "
        f"{summary(measured)}; exported, self-test passed"
    )
    return {"train": trained, "evaluate": measured, "export": exported, "self_test": "passed"}


def _self_test(folder: Path) -> None:
    """Run the self-test of the export's own program in a separate process without the workbench, as in production."""
    if is_frozen():
        with contextlib.redirect_stdout(sys.stderr):
            if runner.main(["--self-test"], folder):
                raise SelfTestFailed(path=str(folder), why="see the messages above")
        return
    command = [sys.executable, str(folder / "predict.py"), "--self-test"]
    output = run_captured(command, seconds=_SELF_TEST_SECONDS, folder=folder)
    if output.returncode != 0:
        raise SelfTestFailed(path=str(folder), why=output.last_line or f"exit code {output.returncode}")


def _evaluated_images(model: dict[str, Any], root: Path) -> list[str]:
    data = Run(root / "runs" / model["train"]["run"]).dataset()
    return [item.key for item in data.of(model["evaluate"]["split"])]


def _threshold_dice(model: dict[str, Any], root: Path) -> float:
    """Return the Dice of the best gray threshold on the images on which the UNet was evaluated."""
    project = Project.open(root, write=False)
    pairs = []
    for key in _evaluated_images(model, root):
        label = annotation.load_mask(project, key)
        if label is not None:
            pairs.append((read(project.image_path(key)), label))
    return best_threshold_dice(pairs)


def _overlays(model: dict[str, Any], root: Path, console: Console) -> Path:
    """Predict the validation/test images and the large image with the export. Return the folder of overlays."""
    project = Project.open(root, write=False)
    out = root / "demo-results"
    keys = [*_evaluated_images(model, root), *(key for key in project.images() if key.startswith("large/"))]
    sources, _ = collect_images([project.image_path(key) for key in keys])
    predictor = Predictor.open(model["export"]["path"], engine="onnx")
    with console.progress("predicting validation/test images") as move, ResultsFolder(out, predictor) as folder:
        predict_all(folder, sources, on_image=lambda number, total, *_: move(number, total))
    return out / "overlays"


def _print_result(result: dict[str, Any], root: Path, console: Console) -> None:
    unet, resnet = result["unet"], result["resnet"]
    dice = unet["evaluate"]["any_defect"]["dice"] or 0.0
    accuracy = percent(resnet["evaluate"]["accuracy"], resnet["evaluate"]["accuracy_interval"])
    console.line()
    plain = unet["threshold_dice"]
    console.line(f"UNet on validation/test images: Dice {dice:.2f}; best plain gray threshold: Dice {plain:.2f}.")
    console.line(f"ResNet on validation/test images: accuracy {accuracy}.")
    for name, model in (("UNet", unet), ("ResNet", resnet)):
        for engine, parity in model["export"]["parity"].items():
            console.line(f"{name} export compared with the run, {engine}: {parity_text(parity)}.")
    console.line(f"Overlays:      {result['overlays']}")
    console.line(f"Exports:       {root / 'exports'}")
    console.line(f"Open a window: workbench {root}")
    console.line(f"Duration: {result['seconds'] / 60:.1f} minutes.")
