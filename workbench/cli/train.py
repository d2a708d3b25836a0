"""Verb `train`: start or resume a run, show its progress and its result."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.cli.pip_commands import paddle_command
from workbench.cli.training_process import run_child
from workbench.cli.verb_runner import Console, WrongUse, percent, progress_bar
from workbench.core import problems
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.events import Evaluated, Event, Finished, Profiled, Progress, Started, Step, Trouble
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.run import Run, create_run, find_run, plan_run
from workbench.core.runs.training_settings import DEFAULT_MINUTES, TrainingSettings, concerns, parse_settings, request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--model", choices=("unet", "resnet"), help="unet: where is it? resnet: what kind is it?")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--minutes", type=float, metavar="M", help=f"training time in minutes (default: {DEFAULT_MINUTES:g})"
    )
    length.add_argument("--epochs", type=int, metavar="N", help="train for N epochs instead")
    parser.add_argument("--device", metavar="auto|cpu|gpu|gpu:0,1", help="where to train (auto); cpu:2: in two")
    parser.add_argument("--from", dest="start", metavar="RUN", help="begin with the weights of an earlier run")
    parser.add_argument("--profile", action="store_true", help="measure where the time of a step goes")
    parser.add_argument("--plan", action="store_true", help=("print the training settings with reasons, do not train"))
    parser.add_argument("--resume", metavar="RUN", help="resume a stopped run")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="any setting of the recipe"
    )


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    if options.plan:
        return plan(options, talk)
    if options.resume is not None:
        root = options.project.absolute()
        read_project_file(root)
        chosen = find_run(root, options.resume, options.model)
        if not chosen.resumable:
            raise problems.RunUnusable(name=chosen.name, why="no state was saved from which it could go on")
        chosen.check_links()
        result = follow(chosen, talk, resume=True)
    else:
        if options.model is None:
            raise WrongUse("say --model unet or --model resnet")
        result = follow(new_run(options.project, _settings(options)), talk)
    print_result(result, talk)
    return result


def plan(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    """Print and return the training settings that a new run would have, with their reasons. Nothing is written."""
    if options.resume is not None or options.model is None:
        raise WrongUse("--plan needs --model unet or --model resnet, and no --resume")
    with Project.open(options.project.absolute(), write=False) as project:
        dataset, settings = plan_run(project, _settings(options))
    values = settings.model_dump(mode="json", exclude={"format", "reasons"})
    images = {split: len(dataset.of(split)) for split in ("train", "val", "test")}
    shown = concerns(settings.model)
    wide = max(map(len, shown))
    for name in shown:
        why = settings.reasons.get(name, "")
        talk.line(f"{name:{wide}}  {json.dumps(values[name], ensure_ascii=False)}{f'  ({why})' if why else ''}")
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
    weights = choices.get("weights")
    if isinstance(weights, str) and weights != "imagenet":
        choices["weights"] = str(Path(weights).absolute())  # the child, or a resume, may have another working directory
    if options.start is not None:
        root = options.project.absolute()
        earlier = find_run(root, options.start, options.model)
        earlier.need_usable()
        choices["start_from"] = earlier.name if earlier.project_root == root else str(earlier.root)
    return request(options.model, **choices)


def new_run(project_root: Path, settings: TrainingSettings) -> Run:
    """Collect the dataset and create a run. The project is closed on return, so that a window can open it."""
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command())
    with Project.open(project_root) as project:
        return create_run(project, settings)


def follow(run: Run, talk: Console, *, resume: bool = False) -> dict[str, Any]:
    """Run the child on `run` and show its progress. Return the JSON of the verb."""
    settings = run.settings()
    story = _ConsoleReport(talk)
    with story:
        ending = run_child(
            "train",
            run.root,
            *(["--resume"] if resume else []),
            device=settings.device,
            log=run.log_path,
            on_event=story.tell,
            on_stop=lambda: talk.note(
                "Stopping and saving the best model. Press Ctrl+C again to abort without saving."
            ),
        )
    run.need_usable()
    return _result(run, settings, story, ending)


@dataclass
class _ConsoleReport:
    """Display of a training's events. Keeps the events needed for the result."""

    talk: Console
    started: Started | None = None
    step: Step | None = None
    evaluated: dict[str, Evaluated] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    score: str = ""

    def __enter__(self) -> _ConsoleReport:
        look = "{desc} {percentage:3.0f}%|{bar}| {remaining}{postfix}"
        self.bar = progress_bar("starting", total=1000, unit="", bar_format=look)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def tell(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started = event
            self._say_start(event)
        elif isinstance(event, Step):
            self.step = event
            self.bar.set_description_str("training", refresh=False)
            self.bar.set_postfix_str(f" loss {event.loss:.3f}{self.score}", refresh=False)
            self.bar.update(min(1000, int(1000 * event.progress)) - self.bar.n)
        elif isinstance(event, Evaluated):
            if event.best or event.split not in self.evaluated:
                self.evaluated[event.split] = event
            if event.score is not None and event.split == "val":
                self.score = f", {'dice' if 'dice' in event.metrics else 'accuracy'} {_number(event.metrics):.3f}"
        elif isinstance(event, Progress):
            self.bar.set_description_str(f"{event.what} {event.done}/{event.total}", refresh=False)
            self.bar.update(0)
        elif isinstance(event, Profiled):
            self.talk.note(event.what)
        elif isinstance(event, Trouble):
            self.troubles.append(f"{event.what} {event.done}".strip())
            self.talk.note(self.troubles[-1])

    def _say_start(self, event: Started) -> None:
        counts = ", ".join(f"{count} {split}" for split, count in event.pictures.items() if count)
        device = f"{event.device} ({event.device_name})" if event.device_name else event.device
        why = f" ({event.precision_reason})" if event.precision_reason else ""
        self.talk.note(f"Training {event.model} on {device}, {event.precision}{why}; pictures: {counts}.")
        if event.held_out_note:
            self.talk.note(event.held_out_note)


def _number(metrics: dict[str, Any]) -> float:
    value = metrics.get("dice", metrics.get("accuracy"))
    return float("nan") if value is None else value


def _result(run: Run, settings: TrainingSettings, story: _ConsoleReport, ending: Finished) -> dict[str, Any]:
    said = ending.result
    best = run.best_evaluation()
    last = story.step
    started = story.started
    metrics = said.get("metrics") or (best.metrics if best is not None else {})
    test = story.evaluated.get("test")
    return {
        "run": run.name,
        "path": run.root,
        "model": settings.model,
        "device": said.get("device") or (started.device if started else settings.device),
        "precision": said.get("precision") or (started.precision if started else ""),
        "steps": said.get("steps", last.step if last else 0),
        "seconds": said.get("seconds", ending.time),
        "images_per_second": said.get("images_per_second", last.images_per_second if last else None),
        "metrics": metrics,
        "test": test.metrics if test is not None else None,
        "pictures": started.pictures if started else {},
        "held_out_note": started.held_out_note if started else "",
        "ended": ending.why,
        "troubles": story.troubles,
        "pruned": said.get("pruned"),
    }


def print_result(result: dict[str, Any], talk: Console) -> None:
    """Print the result of a training in a few lines."""
    speed = f", {result['images_per_second']:.1f} pictures a second" if result["images_per_second"] else ""
    where = f"{result['model']} on {result['device']} ({result['precision']})"
    talk.line(f"Run {result['run']}: {where}, {result['steps']} steps in {result['seconds']:.0f} s{speed}.")
    for split, metrics in (("validation", result["metrics"]), ("test", result["test"])):
        if metrics:
            talk.line(f"  {split}: {summary(metrics)}")
    if result["pruned"]:
        talk.line(f"  {pruned(result['pruned'])}")
    if result["held_out_note"]:
        talk.line(f"  {result['held_out_note']}")
    if result["ended"] == "stopped":
        talk.line("Training was stopped early. The best model was kept.")


def summary(metrics: dict[str, Any]) -> str:
    """Format the main metrics of a report of core.evaluation.metrics in one line."""
    if "confusion" in metrics:
        accuracy = percent(metrics.get("accuracy"), metrics.get("accuracy_interval"))
        return f"accuracy {accuracy}, macro F1 {_three(metrics.get('macro_f1'))}, {metrics.get('pictures')} pictures"
    regions = metrics.get("regions") or {}
    found = percent(regions.get("recall"), regions.get("recall_interval"))
    return (
        f"dice {_three(metrics.get('dice'))}, IoU {_three(metrics.get('iou'))}; defects found {found}, "
        f"false alarms per picture {_three(regions.get('false_per_picture'))}, {metrics.get('pictures')} pictures"
    )


def pruned(told: dict[str, Any]) -> str:
    """Format the changes made by pruning in one line."""
    before, after = told["before"], told["after"]
    widths = " to ".join("-".join(map(str, one["widths"])) for one in (before, after))
    share = after["parameters"] / max(1, before["parameters"]) - 1
    return (
        f"pruned from {widths}: parameters {before['parameters']:,} to {after['parameters']:,} ({share:+.0%}), "
        f"dice {_three(before['dice'])} to {_three(after['dice'])} on {told['pictures']} pictures, "
        f"{before['milliseconds']:.1f} to {after['milliseconds']:.1f} ms for a tile of {told['tile']} x {told['tile']}"
    )


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
