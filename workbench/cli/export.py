"""Verb `export`: folder of a run that works without the workbench, kept only if its results agree with the run.

The verb `demo` generates a project, trains, evaluates, exports and runs the self-test of each export. `release`
verifies an export and those before it, or repeats its training and compares.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from workbench.cli.evaluate import compare_runs, evaluate
from workbench.cli.model_verbs import add_run_arguments, report_in_use
from workbench.cli.train import follow, summary
from workbench.cli.verb_runner import Console, WrongUse, add_project, percent, progress_bar
from workbench.core import problems
from workbench.core.evaluation.figure_texts import full_name
from workbench.core.evaluation.repeated_training import cautions, changed_data, copy_for_training
from workbench.core.images.image_files import read
from workbench.core.json_files import load_object
from workbench.core.project import annotation
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs import export_options
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.events import Event, Progress, Trouble
from workbench.core.runs.launch import is_frozen, paddle_installed
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.core.runs.release import RELEASE_FILE, verify
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import count_good_images, run_line
from workbench.core.runs.training_process import export_run, new_run
from workbench.core.runs.training_settings import request
from workbench.core.sample_project import best_threshold_dice, make_sample
from workbench.core.text_patterns import counted, fill
from workbench.inference.batch import runner
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.engines.paddle_lite_engine import PYTHON_VARIABLE
from workbench.inference.predictor import Predictor
from workbench.inference.verdict_rule import UNSURE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    add_run_arguments(parser, "run to export")
    parser.add_argument("--out", type=Path, metavar="DIR", help="new folder for the export (PROJECT/exports/RUN)")
    export_options.add_export_arguments(parser)
    lite = f"Python 3.8 with paddlelite, which makes and runs the format lite (the variable {PYTHON_VARIABLE})"
    parser.add_argument("--lite-python", type=Path, metavar="PATH", help=lite)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    unknown = [name for name in options.formats if name not in export_options.FORMATS]
    if unknown or not options.formats:
        raise WrongUse(f"formats are {', '.join(export_options.FORMATS)}, not {', '.join(unknown) or 'none'}")
    if (options.target is not None and options.target <= 0) or options.seconds < 0:
        raise WrongUse("--target must be above 0 and --seconds must not be negative")
    if options.lite_python is not None:
        os.environ[PYTHON_VARIABLE] = str(options.lite_python.absolute())  # for this process and the one that exports
    if options.shape is not None:
        try:
            export_options.check_line_shape(options.shape)
        except problems.BadSettings as problem:
            raise WrongUse(f"--shape {problem.fields['why']}") from problem
    root = options.project.absolute()
    read_project_file(root)
    trained = find_run(root, options.name, options.model)
    in_use = report_in_use(root, console)
    for text in false_alarms(trained):
        console.note(text)
    result = export(trained, console, export_options.ExportOptions.from_namespace(options), out=options.out)
    print_export(result, console)
    return result | in_use


def export(
    run: Run, console: Console, options: export_options.ExportOptions, *, out: Path | None = None
) -> dict[str, Any]:
    """Run the export in the child. Return the JSON of the verb.

    out: a new folder; by default below `exports/`. Raises ExportExists, ParityFailed and the problem that the child
    reports.
    """
    warnings: list[str] = []
    with progress_bar("exporting", total=None, unit="") as bar:

        def on_event(event: Event) -> None:
            if isinstance(event, Progress):
                bar.set_description_str(event.what, refresh=False)
                bar.total = event.total
                bar.update(event.done - bar.n)
            elif isinstance(event, Trouble):
                warnings.append(f"{event.what} {event.done}".strip())
                console.note(warnings[-1])

        report = export_run(
            run,
            options,
            out=out,
            on_event=on_event,
            on_stop=lambda: console.note("Stopping. The unfinished export is removed."),
        )
    return {
        "path": Path(report["path"]),
        "formats": report.get("formats", []),
        "parity": report.get("parity", {}),
        "latency": report.get("latency", {}),
        "note": report.get("note", ""),
        "point": report.get("point", {}),
        "line": report.get("line"),
        "ready": report.get("ready", True),
        "not_ready": report.get("not_ready", ""),
        "not_compared": report.get("not_compared", ""),
        "run": run.name,
        "model": run.settings().model,
        "troubles": warnings,
    }


def false_alarms(run: Run) -> list[str]:
    """Return how many good images have a false alarm of a segmentation, or that this is not measured."""
    line = run_line(run)
    if line.model != "unet" or run.adopted:
        return []
    counts = {name: count_good_images(found) for name, found in (("validation", line.metrics), ("test", line.tested))}
    if not any(good for good, _ in counts.values()):
        return ["False alarms are not measured: no good image was evaluated. The model may alarm on every good part."]
    pattern = "{alarms} of {good} good {name} {good:image|images} {alarms:has|have} a false alarm"
    fitted = {"validation"} if line.metrics.get("chosen_on") == "cross_fitted" else set()
    return [
        fill(pattern, alarms=alarms, good=good, name=name)
        + (" at a threshold chosen on other parts." if name in fitted else ".")
        for name, (good, alarms) in counts.items()
        if alarms
    ]


def print_export(result: dict[str, Any], console: Console) -> None:
    console.line(f"Exported {result['run']} to {result['path']} ({', '.join(result['formats'])}).")
    for name, parity in result["parity"].items():
        if parity.get("passed", True):
            milliseconds = result["latency"].get(name)
            speed = f"; {milliseconds:.1f} ms per image of usual size" if milliseconds is not None else ""
            console.line(f"  {name}: {parity_text(parity)}{speed}")
    if result["note"]:
        console.line(f"  {result['note']}")
    if result["point"]:
        console.line(f"  {point_text(result['point'])}")
    if result["line"]:
        size = "x".join(map(str, result["line"]["shape"]))
        console.line(f"  Model for other programs, {size} pixels: {result['line']['path']}")
    for layout in (export_options.LAYOUTS[name] for name in result["formats"] if name in export_options.LAYOUTS):
        console.line(f"  For {layout.program}: {Path(result['path']) / layout.file}")
    console.line(f"  Run it with: python {Path(result['path']) / 'predict.py'} IMAGES --out results")


def point_text(point: dict[str, Any]) -> str:
    """Format an operating point: its thresholds and the step in which they were chosen."""
    by = {"review": "set in the evaluation", "export": "as requested"}.get(point["chosen_by"], "as trained")
    on = f" on {' and '.join(point['chosen_on'])}" if point["chosen_on"] else ""
    if "unsure" in point:
        least = point["unsure"]
        where = f'verdicts below {least:.0%} are "unsure"' if least else "every verdict is given"
    else:
        where = ", ".join(
            f"{name} from {least:g}" + (f" and {area} px²" if (area := point["min_area"][name]) else "")
            for name, least in point["thresholds"].items()
        )
    rule = point.get("verdict_rule")
    if rule is not None:
        bad = rule["bad"] or "their class"
        reached = (
            f"an anomaly score above {rule['mass']:g}"
            if rule["kind"] == "mass"
            else "more regions of a kind than permitted"
        )
        band = rule["unsure"] is not None and f"{UNSURE} above an anomaly score of {rule['unsure']:g}, else "
        where += f"; images with {reached} are {bad}, others {band or ''}{rule['good']}"
    return f"operating point, {by}{on}: {where}"


def parity_text(parity: dict[str, Any]) -> str:
    """Format the agreement between export and run."""
    parts = []
    if parity.get("max_abs") is not None:
        parts.append(f"largest difference {parity['max_abs']:.1e}")
    if parity.get("mask_agreement") is not None:
        parts.append(f"{100 * parity['mask_agreement']:.3f}% of the pixels agree")
    if parity.get("reduced"):
        parts.append(cost_text(parity["held_out"]))
    return ", ".join(parts) or "identical"


def cost_text(held_out: dict[str, Any]) -> str:
    """Format the change of the metrics on labeled images due to reduced precision."""
    before, after = held_out.get("before") or {}, held_out.get("after") or {}
    parts = []
    for key, name in (("dice", full_name("dice", "mean")), ("macro_f1", full_name("f1", "mean"))):
        if before.get(key) is not None and after.get(key) is not None:
            parts.append(f"{name} {before[key]:.3f} -> {after[key]:.3f}")
    if "found" in before and "found" in after:
        parts.append(f"defects detected {before['found']} -> {after['found']} of {before['defects']}")
        alarms = [entry["false_per_picture"] for entry in (before, after)]
        if None not in alarms:
            parts.append(f"false alarms per image {alarms[0]:.2f} -> {alarms[1]:.2f}")
    return f"on {before.get('pictures', 0)} labeled images: {', '.join(parts)}" if parts else "not measured"


# --- demo -----------------------------------------------------------------------------------------


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


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_demo(options: argparse.Namespace, console: Console) -> dict[str, Any]:
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
    exported = export(run, console, export_options.ExportOptions(export_options.COMMAND_LINE_FORMATS, seconds=2))
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


def add_release_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("verify", "reproduce"),
        help="verify: compare every file with its checksum; reproduce: verify, train again in a copy of the project "
        "and compare both models",
    )
    parser.add_argument("export", type=Path, metavar="EXPORT", help="folder written by 'workbench export'")
    parser.add_argument(
        "--project", type=Path, metavar="PROJECT", help="with reproduce: project of the run (that of the export)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="with reproduce: new folder that keeps the copy with the new run"
    )


def run_release(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Verify an export and those before it. Raises ReleaseBroken, ReleaseChanged, NotReproducible."""
    folder = options.export.absolute()
    changed, chain = verify(folder)
    if changed:
        raise problems.ReleaseChanged(path=str(options.export), why=" ".join(changed[:5]))
    console.line(f"{options.export} is as it was released.")
    result: dict[str, Any] = {"path": folder, "predecessors": chain}
    if options.action == "reproduce":
        if options.out is not None and options.out.exists():
            raise WrongUse("--out needs a new folder")
        return result | _reproduce(folder, options, console)
    for before in chain:
        console.line(f"  before it: {before['export']} (run {before['run']}), {before['state']}")
    return result


def _reproduce(folder: Path, options: argparse.Namespace, console: Console) -> dict[str, Any]:
    record = load_object(folder / RELEASE_FILE, problems.ReleaseBroken)
    root = folder.parents[1] if options.project is None else options.project.absolute()
    former = Run(root / "runs" / Path(str(record.get("run"))).name)
    with Project.open(root, write=False) as project:
        data = changed_data(record, former, project)
        if data:
            for text in data:
                console.note(f"{text}.")
            raise problems.NotReproducible(path=str(options.export), why=data[0], n=len(data))
        other = cautions(record, former)
        for text in other:
            console.note(text)
        with tempfile.TemporaryDirectory(prefix="workbench-release-") as temporary:
            former, again = copy_for_training(project, former, (options.out or Path(temporary) / "copy").absolute())
            console.line(f"Training again in {again.project_root}.")
            trained = follow(again, console)
            evaluation, _ = evaluate(former, console)
            compared = compare_runs(evaluation, again, console)
    outcomes = [figure["outcome"] for figure in compared["figures"]]
    differing = sum(each in ("better", "worse") for each in outcomes)
    console.line(
        f"{differing} of {len(outcomes)} figures differ by more than chance."
        if differing
        else "No figure differs by more than chance."
    )
    return {"run": record.get("run"), "steps": trained["steps"], "changes": other, "comparison": compared}
