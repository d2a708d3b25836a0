"""Verb `train`: start or resume a run, show its progress and its result."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from typing import Any

from workbench.cli.model_verbs import report_in_use
from workbench.cli.verb_runner import Console, WrongUse, add_project, progress_bar
from workbench.core import problems
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.expectation import Expectation
from workbench.core.evaluation.figure_texts import stored_figures
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.events import Evaluated, Event, Finished, Profiled, Progress, Started, Step, Trouble
from workbench.core.runs.run import Run, find_run, plan_run
from workbench.core.runs.training_process import new_run, requested_settings, run_training
from workbench.core.runs.training_settings import DEFAULT_MINUTES, MODELS, TrainingSettings, concerns, parse_settings
from workbench.core.text_patterns import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "--model",
        choices=MODELS,
        help="unet: segmentation of defects; resnet: verdict per image; good: differences from good images",
    )
    settings = parser.add_argument_group("training settings")
    length = settings.add_mutually_exclusive_group()
    length.add_argument(
        "--minutes", type=float, metavar="M", help=f"training time in minutes (default: {DEFAULT_MINUTES:g})"
    )
    length.add_argument("--epochs", type=int, metavar="N", help="train for N epochs instead")
    settings.add_argument(
        "--device", metavar="auto|cpu|gpu|gpu:0,1", help="device (auto); cpu:2: two processes on the CPU"
    )
    settings.add_argument("--from", dest="start", metavar="RUN", help="initial weights: an earlier run")
    settings.add_argument("--profile", action="store_true", help="measure the time of each part of a step")
    parser.add_argument("--plan", action="store_true", help=("print the training settings with reasons, do not train"))
    parser.add_argument("--resume", metavar="RUN", help="resume a stopped run")
    settings.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set any training setting; may be repeated",
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.plan:
        return plan(options, console)
    if options.resume is not None:
        _check_resume(options)
        root = options.project.absolute()
        read_project_file(root)
        selected = find_run(root, options.resume, options.model)
        if not selected.resumable:
            raise problems.RunUnusable(name=selected.name, why="no checkpoint was saved")
        selected.check_links()
        result = follow(selected, console, resume=True)
    else:
        if options.model is None:
            raise WrongUse("--model unet, --model resnet or --model good is required")
        result = follow(new_run(options.project, _settings(options)), console)
    print_result(result, console)
    return result | report_in_use(options.project.absolute(), console)


def _check_resume(options: argparse.Namespace) -> None:
    """Raise WrongUse for options that a resumed run would not obey, since it keeps its own settings."""
    names = {"from": "start", "set": "settings"}
    names |= {name: name for name in ("minutes", "epochs", "device", "profile")}
    given = [f"--{option}" for option, name in names.items() if getattr(options, name)]
    if given:
        raise WrongUse(f"--resume keeps the settings of the run and cannot be combined with {', '.join(given)}")


def plan(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Print and return the training settings that a new run would have, with their reasons. Nothing is written."""
    if options.resume is not None or options.model is None:
        raise WrongUse("--plan requires --model and cannot be combined with --resume")
    with Project.open(options.project.absolute(), write=False) as project:
        dataset, settings = plan_run(project, _settings(options))
    values = settings.model_dump(mode="json", exclude={"format", "reasons"})
    images = {split: len(dataset.of(split)) for split in ("train", "val", "test")}
    shown = concerns(settings.model)
    width = max(map(len, shown))
    for name in shown:
        why = settings.reasons.get(name, "")
        console.line(f"{name:{width}}  {json.dumps(values[name], ensure_ascii=False)}{f'  ({why})' if why else ''}")
    return {"model": settings.model, "recipe": values, "reasons": settings.reasons, "pictures": images}


def _settings(options: argparse.Namespace) -> TrainingSettings:
    choices = parse_settings(options.settings)
    for key in ("minutes", "epochs", "device"):
        value = getattr(options, key)
        if value is not None:
            choices[key] = value
    if options.profile:
        choices["profile"] = True
    choices.pop("model", None)
    if options.start is not None:
        choices["start_from"] = options.start
    return requested_settings(options.project, options.model, choices)


def follow(run: Run, console: Console, *, resume: bool = False) -> dict[str, Any]:
    """Run the child on `run` and show its progress. Return the JSON of the verb."""
    settings = run.settings()
    report = _ConsoleReport(console)
    with report:
        ending = run_training(
            run,
            resume=resume,
            on_event=report.show,
            on_stop=lambda: console.note(
                "Stopping and saving the best model. Press Ctrl+C again to abort without saving."
            ),
        )
    return _result(run, settings, report, ending)


@dataclass
class _ConsoleReport:
    """Display of a training's events. Keeps the events needed for the result."""

    console: Console
    started: Started | None = None
    step: Step | None = None
    evaluated: dict[str, Evaluated] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    score: str = ""

    def __enter__(self) -> _ConsoleReport:
        layout = "{desc} {percentage:3.0f}%|{bar}| {remaining}{postfix}"
        self.bar = progress_bar("starting", total=1000, unit="", bar_format=layout)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def show(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started = event
            self._show_start(event)
        elif isinstance(event, Step):
            self.step = event
            self.bar.set_description_str("training", refresh=False)
            self.bar.set_postfix_str(f" loss {event.loss:.3f}{self.score}", refresh=False)
            self.bar.update(min(1000, int(1000 * event.progress)) - self.bar.n)
        elif isinstance(event, Evaluated):
            if event.best or event.split not in self.evaluated:
                self.evaluated[event.split] = event
            if event.score is not None and event.split == "val":
                shown = [row for row in stored_figures(event.metrics) if row.id in ("dice", "accuracy")]
                self.score = "".join(f", {figure_texts.name(row)} {figure_texts.value(row, digits=3)}" for row in shown)
        elif isinstance(event, Progress):
            self.bar.set_description_str(f"{event.what} {event.done}/{event.total}", refresh=False)
            self.bar.update(0)
        elif isinstance(event, Profiled):
            self.console.note(event.what)
            if event.device_ms is not None and event.operator_ms is not None:
                times = (
                    f"{event.operator_ms:.1f} ms starting operations on the host, {event.device_ms:.1f} ms on the GPU"
                )
                self.console.note(f"Per step: {times}.")
        elif isinstance(event, Trouble):
            self.warnings.append(f"{event.what} {event.done}".strip())
            self.console.note(self.warnings[-1])

    def _show_start(self, event: Started) -> None:
        counts = ", ".join(f"{count} {split}" for split, count in event.pictures.items() if count)
        device = f"{event.device} ({event.device_name})" if event.device_name else event.device
        why = f" ({event.precision_reason.rstrip('.')})" if event.precision_reason else ""
        self.console.note(f"Training {event.model} on {device}, {event.precision}{why}. Images: {counts}.")
        if event.held_out_note:
            self.console.note(event.held_out_note)


def _result(run: Run, settings: TrainingSettings, report: _ConsoleReport, ending: Finished) -> dict[str, Any]:
    summary_fields = ending.result
    best = run.best_evaluation()
    last = report.step
    started = report.started
    metrics = summary_fields.get("metrics") or (best.metrics if best is not None else {})
    test = report.evaluated.get("test")
    return {
        "run": run.name,
        "path": run.root,
        "model": settings.model,
        "device": summary_fields.get("device") or (started.device if started else settings.device),
        "precision": summary_fields.get("precision") or (started.precision if started else ""),
        "steps": summary_fields.get("steps", last.step if last else 0),
        "seconds": summary_fields.get("seconds", ending.time),
        # 0 if nothing was trained, as of a finished run that was resumed
        "images_per_second": summary_fields.get("images_per_second", last.images_per_second if last else None) or None,
        "metrics": metrics,
        "test": test.metrics if test is not None else None,
        "pictures": started.pictures if started else {},
        "held_out_note": started.held_out_note if started else "",
        "ended": ending.why,
        "troubles": report.warnings,
        "pruned": summary_fields.get("pruned"),
        "forecast": summary_fields.get("forecast"),
        "lighting": summary_fields.get("lighting"),
        "good": summary_fields.get("good"),
        "fitted": summary_fields.get("fitted"),
        "rule": summary_fields.get("rule"),
    }


def print_result(result: dict[str, Any], console: Console) -> None:
    """Print the result of a training in a few lines."""
    unit = "patches" if result["model"] == "unet" else "images"
    speed = f", {result['images_per_second']:.1f} {unit} per second" if result["images_per_second"] else ""
    where = f"{result['model']} on {result['device']} ({result['precision']})"
    console.line(
        f"Run {result['run']}: {where}, {counted(result['steps'], 'step')} in {result['seconds']:.0f} s{speed}."
    )
    for split, metrics in (("validation", result["metrics"]), ("test", result["test"])):
        if metrics:
            console.line(f"  {split}: {summary(metrics)}")
    for line in filter(None, (result["rule"], result["fitted"], *expectation_lines(result))):
        console.line(f"  {line}")
    if result["pruned"]:
        console.line(f"  {pruned(result['pruned'])}")
    if result["held_out_note"]:
        console.line(f"  {result['held_out_note']}")
    if result["ended"] == "stopped":
        console.line("Training was stopped early. The best model was kept.")


def expectation_lines(result: dict[str, Any]) -> list[str]:
    """Return the range expected on other parts and the worst change of lighting; nothing for an earlier version."""
    expectation = Expectation.of_result(result, result["model"])
    return expectation.lines() if expectation is not None else []


def summary(metrics: dict[str, Any]) -> str:
    """Format the main figures of a report of core.evaluation.figure_texts in one line."""
    texts = [f"{figure_texts.name(row)} {figure_texts.text(row, digits=3)}" for row in stored_figures(metrics)]
    texts.append(counted(metrics.get("pictures", 0), "image"))
    return "; ".join([*texts, *(["cross-fitted thresholds"] if metrics.get("chosen_on") == "cross_fitted" else [])])


def pruned(report: dict[str, Any]) -> str:
    """Format the changes made by pruning in one line."""
    before, after = report["before"], report["after"]
    widths = " to ".join("-".join(map(str, entry["widths"])) for entry in (before, after))
    share = after["parameters"] / max(1, before["parameters"]) - 1
    return (
        f"pruned from {widths}: parameters {before['parameters']:,} to {after['parameters']:,} ({share:+.0%}), "
        f"{figure_texts.full_name('dice', 'mean')} {_three(before['dice'])} to {_three(after['dice'])} "
        f"on {counted(report['pictures'], 'image')}, "
        f"{before['milliseconds']:.1f} to {after['milliseconds']:.1f} ms per tile of {report['tile']} px"
    )


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
