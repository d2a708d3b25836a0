"""Whole workflow on the device by the verbs of the workbench, and the quality reached in equal minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench.core.runs.launch import is_frozen
from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.training.acceptance import trial_runs
from workbench.training.acceptance.items import FAIL, PASS, SLOW, Conditions, Outcome
from workbench.training.acceptance.trial_runs import open_sample

_MARGIN = 0.05  # of a metric; smaller differences are noise on the few images of the sample project
_LEAST = {"unet": 0.3, "resnet": 0.3}  # Dice, macro F1: a network that has learned nothing stays below


def check_model(conditions: Conditions) -> Outcome:
    """Train, evaluate, export in every format, run the self-test of each and predict. argument: "unet", "resnet"."""
    model = conditions.argument
    small = conditions.reduced
    with open_sample(conditions, small=small) as project:
        root = project.root
    length = ("--epochs", 2) if small else ("--minutes", 0.6 if conditions.quick else 1.0)
    trained = _verb("train", root, "--model", model, *length, "--device", conditions.device, conditions=conditions)
    measured = _verb("evaluate", root, "--model", model, "--split", "val", conditions=conditions)
    formats = [name for name in KINDS if name in ("onnx", "paddle", "openvino", "legacy") and not cannot_make(name)]
    if small:
        formats = ["onnx", "paddle"]
    out = conditions.folder / f"export-{model}"
    options = ("--formats", ",".join(formats), "--seconds", "0", "--out", out)
    exported = _verb("export", root, "--model", model, *options, conditions=conditions)
    failures = {name: why for name in formats if (why := _self_test(Path(exported["path"]), name, conditions))}
    images = sorted((root / "pictures").rglob("*.png"))[:6]
    predicted = _verb(
        "predict", exported["path"], *images, "--out", conditions.folder / f"results-{model}", conditions=conditions
    )
    score = quality(model, measured)
    values = {
        "device": trained["device"],
        "precision": trained["precision"],
        "steps": trained["steps"],
        "images_per_second": trained["images_per_second"],
        "score": score,
        "parity": exported["parity"],
        "previews": len(list(Path(trained["path"], "previews").rglob("*.png"))),
        "predicted": len(predicted["pictures"]),
        "self_tests": {name: failures.get(name, "") for name in formats},
    }
    problems = [f"self-test with {name}: {why}" for name, why in failures.items()]
    expected = "gpu" if conditions.on_gpu else "cpu"
    if not str(trained["device"]).startswith(expected):
        problems.append(f"trained on {trained['device']} instead of {conditions.device}")
    if values["predicted"] != len(images):
        problems.append(f"{values['predicted']} of {len(images)} images were predicted")
    if not small and (score is None or score < _LEAST[model]):
        problems.append(f"the metric {score} is below {_LEAST[model]}")
    detail = f"{trained['device']}, {trained['precision']}, {trained['steps']} steps, metric {_rounded(score)}"
    detail += f", parity {_parity(exported)}"
    return Outcome(FAIL if problems else PASS, "; ".join([detail, *problems]), values)


def compare_quality(conditions: Conditions) -> Outcome:
    """Train with the settings planned for the GPU and with those for the CPU, each there, for equal minutes."""
    with open_sample(conditions, small=conditions.reduced) as project:
        root = project.root
    minutes = 0.3 if conditions.reduced else 0.6 if conditions.quick else 1.5
    scores: dict[str, Any] = {}
    for device in dict.fromkeys((conditions.device, "cpu:1" if not conditions.on_gpu else "cpu")):
        trained = _verb(
            "train", root, "--model", "unet", "--minutes", minutes, "--device", device, conditions=conditions
        )
        measured = _verb("evaluate", root, "--run", trained["run"], "--split", "val", conditions=conditions)
        scores[device] = {"score": quality("unet", measured), "steps": trained["steps"]}
    first, second = (entry["score"] or 0.0 for entry in scores.values())
    listed = ", ".join(f"{name}: {_rounded(e['score'])} in {e['steps']} steps" for name, e in scores.items())
    worse = conditions.on_gpu and first < second - _MARGIN
    detail = f"{listed}, {minutes:g} minutes each"
    return Outcome(SLOW if worse else PASS, f"{detail}; the GPU is worse" if worse else detail, scores)


def quality(model: str, measured: dict[str, Any]) -> float | None:
    """Return the metric of the quality of a model: Dice of any defect or macro F1."""
    if model == "resnet":
        return measured.get("macro_f1")
    return (measured.get("any_defect") or {}).get("dice") or measured.get("dice")


def _verb(*arguments: Any, conditions: Conditions) -> dict[str, Any]:
    return trial_runs.workbench(*map(str, arguments), conditions=conditions, seconds=800)


def _self_test(folder: Path, engine: str, conditions: Conditions) -> str:
    """Predict the reference images of an export by its own program with an engine. Return its last line if it fails."""
    if is_frozen():
        return ""  # the demo of a packed application covers it
    command = [sys.executable, str(folder / "predict.py"), "--self-test", "--engine", engine]
    done = subprocess.run(
        command,
        cwd=folder,
        env=trial_runs.environment(conditions),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "" if done.returncode == 0 else lines[-1] if lines else f"exit code {done.returncode}"


def _parity(exported: dict[str, Any]) -> str:
    return ", ".join(f"{name} {entry.get('max_abs', 0):.1e}" for name, entry in exported["parity"].items())


def _rounded(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
