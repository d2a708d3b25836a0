"""Metadata of an export: versions that its results may depend on, and `metadata_props` of its ONNX models, which
another program needs to interpret their outputs.

Values are text. Those of classes and verdicts are lists with one line per entry, so that a C++ program needs no parser:

    task                    segmentation or classification
    name, run, date         project, run, and time of the export (ISO 8601, UTC)
    license, version        license of the weights; version of Defect Workbench
    class_ids, class_names, class_colors, thresholds, min_areas_px     one line per class
    verdicts, unsure        one line per verdict; minimum probability of a verdict
    verdict_rule            of a segmentation: region, mass, or none. With a rule also:
    verdict_good, verdict_bad                    the two verdicts; an empty bad one: the name of the class
    verdict_limits          one line per limit: class id (0: any), number, outcome, and its conditions, such as
                            "3 2 rework length_below=10 edge=40", in pixels, see `RegionLimit`; zone: its number
    verdict_zones           one line per zone that a limit names, from number 0
    verdict_anomaly_score, anomaly_exponent      threshold in pixels, see `VerdictRule`; exponent of the probability
    verdict_unsure_score    anomaly score in pixels above which other images are "unsure"; empty: none is
    verdict_border_px, border_exponent           border of the image that does not count, see `ModelSettings`
    um_per_pixel            scale of the image; empty if unknown
    settings                content of model.json without its files

A line model has `input`, `pixel_type`, `unsure_index` and `not_included` besides.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

import onnx

from workbench import __version__
from workbench.inference.io.file_access import write_atomic
from workbench.inference.model_settings import ModelSettings, settings_text
from workbench.inference.region_table import RegionLimit
from workbench.training.device import processor_name
from workbench.training.export.line_graph import UNSURE_INDEX, pixel_type

_PACKAGES = (
    *("numpy", "opencv-python-headless", "onnxruntime", "openvino"),
    *("paddlepaddle", "paddlepaddle-gpu", "onnx"),
)
_LICENSE = "Weights: as chosen by the owner of the training images. Defect Workbench: Apache-2.0."
_NOT_INCLUDED = (
    "Regions smaller than min_areas_px are not removed from class_map: "
    "connected components cannot be computed by ONNX operators."
)
_RULE_NOT_INCLUDED = "The verdict of verdict_rule is not computed, because it needs the regions."


def environment() -> dict[str, str]:
    """Return the system, processor, Python version, and the versions of the installed packages."""
    found = {"system": platform.platform(), "processor": processor_name(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def metadata(settings: ModelSettings) -> dict[str, str]:
    """Return the metadata of a network."""
    values = {
        "task": settings.task,
        "name": settings.name,
        "run": settings.run,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "license": _LICENSE,
        "version": __version__,
        "um_per_pixel": "" if settings.um_per_pixel is None else f"{settings.um_per_pixel:g}",
        "settings": settings_text(dataclasses.replace(settings, files={}, order=(), engines={})),
    }
    if settings.task == "classification":
        return {**values, "verdicts": _lines(settings.verdicts), "unsure": f"{settings.unsure:g}"}
    return {
        **values,
        "class_ids": _lines(entry.id for entry in settings.classes),
        "class_names": _lines(entry.name for entry in settings.classes),
        "class_colors": _lines(entry.color for entry in settings.classes),
        "thresholds": _lines(f"{value:g}" for value in settings.thresholds),
        "min_areas_px": _lines(settings.min_area),
        **_verdict_rule(settings),
    }


def _verdict_rule(settings: ModelSettings) -> dict[str, str]:
    rule = settings.verdict_rule
    if rule is None:
        return {"verdict_rule": "none"}
    return {
        "verdict_rule": rule.kind,
        "verdict_good": rule.good,
        "verdict_bad": rule.bad,
        "verdict_limits": _lines(_limit_line(limit, rule.zones) for limit in rule.limits),
        "verdict_zones": _lines(rule.zones),
        "verdict_anomaly_score": f"{rule.mass:.9g}",
        "verdict_unsure_score": "" if rule.unsure is None else f"{rule.unsure:.9g}",
        "anomaly_exponent": f"{settings.anomaly_exponent:g}",
        "verdict_border_px": str(settings.verdict_border),
        "border_exponent": str(settings.border_exponent),
    }


def _limit_line(limit: RegionLimit, zones: Sequence[str]) -> str:
    given = {name: zones.index(value) if name == "zone" else value for name, value in limit.conditions.items()}
    conditions = [f"{name}={value:.9g}" for name, value in given.items()]
    return " ".join([str(limit.class_id), str(limit.most), limit.outcome, *conditions])


def line_metadata(settings: ModelSettings, shape: tuple[int, int]) -> dict[str, str]:
    """Return the metadata of a line model. shape: height and width of its image."""
    colors = "gray" if settings.channels == 1 else "RGB"
    kind = pixel_type(settings).name
    size = "x".join(map(str, (1, *shape, settings.channels)))
    values = {
        **metadata(settings),
        "input": f"image: {kind} {size}, NHWC, {colors}, rows from the top; all preprocessing is included",
        "pixel_type": kind,
    }
    if settings.task == "classification":
        return {**values, "unsure_index": str(UNSURE_INDEX)}
    missing = [_NOT_INCLUDED] if any(area > 1 for area in settings.min_area) else []
    missing += [_RULE_NOT_INCLUDED] if settings.verdict_rule is not None else []
    return {**values, "not_included": " ".join(missing)}


def set_metadata(model: onnx.ModelProto, values: Mapping[str, str]) -> None:
    """Replace the metadata and the description of a model."""
    onnx.helper.set_model_props(model, dict(values))
    model.doc_string = f"{values['task'].capitalize()} model of {values['name']}, run {values['run']}"


def add_metadata(path: Path, settings: ModelSettings) -> None:
    """Add the metadata to the network in an ONNX file, atomically. Raises OSError."""
    model = onnx.load(str(path))
    set_metadata(model, metadata(settings))
    write_atomic(path, model.SerializeToString())


def _lines(values: Iterable[object]) -> str:
    return "\n".join(" ".join(str(value).splitlines()) for value in values)
