"""Image verdicts of a UNet run in `evaluate`: ranking of the images, and choice and evaluation of the verdict rule."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse, number_in, percent
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.intervals import Interval, limits
from workbench.core.evaluation.operating_point import ChosenRule, OperatingPoint
from workbench.core.evaluation.verdict_rules import (
    FALSE_SHARES,
    RuleChoice,
    ScoredImage,
    auroc_interval,
    choose_rule,
    evaluate_rule,
    image_auroc,
    recall_at,
    rule_note,
)
from workbench.core.messages import stored_text, with_messages
from workbench.core.runs.run import Run
from workbench.core.text_patterns import counted
from workbench.inference.inspection_area import common_zones
from workbench.inference.model_settings import ModelSettings
from workbench.inference.region_table import ANY_CLASS, ANY_NAME, CONDITIONS, OUTCOMES, RegionLimit, size_unit
from workbench.inference.verdict_rule import BAD, GOOD

_SIZES = [key for key, (_, power) in CONDITIONS.items() if power is not None]
BY_CLASS = "class"  # in --verdict-names: the name of the class instead of a fixed verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("verdict rule")
    group.add_argument(
        "--verdict-rule",
        metavar="RULE",
        help="rule for images of a UNet run to evaluate instead of the one in use: budget=5 (false alarms in 100 good "
        "images), cost=10 (least cost, if a missed defective image costs 10 false alarms), mass=120 (anomaly score "
        "in pixels), region=LIMIT,... or none; with ,unsure=20 other images with an anomaly score above 20 are unsure. "
        "A LIMIT is a sentence: scratch:most=3:length_below=0.5mm:outcome=rework means at most 3 scratches "
        f"shorter than 0.5 mm, otherwise rework. Its keys: {', '.join(_SIZES)} (pixels, or with mm or mm2), most "
        f"(0), outcome ({', '.join(OUTCOMES)}), zone (its name); {ANY_NAME} instead of a class for all classes",
    )
    group.add_argument(
        "--verdict-names",
        metavar="GOOD,BAD",
        help=f'verdicts of the rule ({GOOD},{BAD}); with "{BY_CLASS}" as BAD the class of the heaviest regions',
    )
    group.add_argument(
        "--verdict-border",
        type=number_in(0, 1000),
        metavar="PX",
        help="strip along the border of each image that does not count for the verdict and the anomaly score, instead "
        "of the one chosen by the training (0 to 1000 pixels)",
    )
    group.add_argument(
        "--store-rule",
        action="store_true",
        help="use rule and border in predictions and exports from now on",
    )


def parse_choice(text: str, names: str | None, settings: ModelSettings) -> RuleChoice | None:
    """Return the requested rule; None for "none". Raises WrongUse."""
    if text == "none":
        return None
    by, _, value = text.partition("=")
    good, _, bad = (names or f"{GOOD},{BAD}").partition(",")
    verdicts: dict[str, Any] = {"good": good, "bad": "" if bad == BY_CLASS else bad or BAD}
    value, _, unsure = value.partition(",unsure=")
    try:
        verdicts["unsure"] = float(unsure) if unsure else None
        if by == "region":
            return RuleChoice("region", 0.0, tuple(_limit(entry, settings) for entry in value.split(",")), **verdicts)
        if by not in ("budget", "cost", "mass"):
            raise ValueError("it begins with budget=, cost=, mass= or region=, or is none")
        return RuleChoice(by, float(value), **verdicts)
    except ValueError as error:
        raise WrongUse(f"--verdict-rule {text}: {error}") from None


def _limit(text: str, settings: ModelSettings) -> RegionLimit:
    """Return a limit. Raises ValueError."""
    name, *entries = text.split(":")
    ids = {ANY_NAME: ANY_CLASS} | {entry.name: entry.id for entry in settings.classes}
    if name not in ids:
        raise ValueError(f"the model has no class {name}")
    values: dict[str, Any] = {}
    for entry in entries:
        key, _, value = entry.partition("=")
        if key not in (*CONDITIONS, "most", "outcome"):
            raise ValueError(f"{entry} is no limit")
        if key in CONDITIONS:
            values[key] = _pixels(value, CONDITIONS[key][1], settings.um_per_pixel)
        else:
            values[key] = int(value) if key == "most" else value
    if (zone := values.get("zone")) is not None and zone not in common_zones(settings.areas):
        raise ValueError(f"the inspection areas have no zone {zone} in every image")
    return RegionLimit(ids[name], **values)


def _pixels(text: str, power: int | None, um: float | None) -> float | str:
    if power is None:
        return text
    unit = ("", "mm", "mm2")[power]
    if not unit or not text.endswith(unit):
        return float(text)
    if um is None:
        raise ValueError("the pixel scale of the model is not known, so areas and lengths are in pixels")
    return round(float(text.removesuffix(unit)) / size_unit(power, um)[1], 6)


def measure(
    run: Run, settings: ModelSettings, images: Sequence[ScoredImage], split: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the part of the JSON object about images as a whole, and store the rule if requested.

    settings: with the border under evaluation. split: "" for images of another project. options: verdict_rule,
        verdict_names, store_rule. Raises WrongUse, Problem.
    """
    report = rank(images)
    in_use = operating_point.read(run).rule
    text = options.get("verdict_rule")
    requested = None if text is None else parse_choice(text, options.get("verdict_names"), settings)
    chosen = in_use
    if text is not None:
        seen = tuple(name for name in ("val", "test") if split in (name, "all"))
        chosen = None if requested is None else ChosenRule(choose_rule(requested, images), requested, seen)
    if options.get("store_rule"):
        if text is None:
            raise WrongUse("--store-rule needs --verdict-rule")
        point = OperatingPoint.of(settings)
        operating_point.store(run, point, chosen_on=operating_point.read(run).chosen_on, rule=chosen)
        in_use = chosen
    evaluated = chosen
    if chosen is None:  # the effect of a usual rule
        choice = RuleChoice()
        evaluated = ChosenRule(choose_rule(choice, images), choice, (split,))
    assert evaluated is not None
    fixed = not split or (text is None and chosen is not None and split != "all" and split not in chosen.chosen_on)
    result = evaluate_rule(evaluated.choice, images, rule=evaluated.rule, fixed=fixed)
    return {
        **report,
        "verdict_border": settings.verdict_border,
        "verdict_rule": {
            "stored": in_use is not None and in_use.rule == evaluated.rule,
            "choice": evaluated.choice.to_json(),
            **result.to_json(),
            **with_messages({"note": rule_note(evaluated.choice, images, result.method)}),
        },
    }


def rank(images: Sequence[ScoredImage]) -> dict[str, Any]:
    """Return AUROC and recall at few false alarms; null with a reason where there are too few images."""
    recalls = {f"{share:.2f}": recall_at(images, share) for share in FALSE_SHARES}
    stated = auroc_interval(images)
    return {
        "image_auroc": image_auroc(images),
        "image_auroc_interval": limits(stated),
        "image_auroc_interval_why": "" if isinstance(stated, Interval) else stated,
        "recall_at_false_alarms": {key: found and found.value for key, (found, _) in recalls.items()},
        "recall_at_false_alarms_interval": {key: found and found.interval for key, (found, _) in recalls.items()},
        "recall_at_false_alarms_why": {key: why for key, (_, why) in recalls.items() if why},
    }


def print_images(result: dict[str, Any], console: Console) -> None:
    """Print the part of the report about images as a whole."""
    if result.get("image_auroc") is not None:
        recalls = [
            f"{percent(value)} at {float(share):.0%} of the good images"
            for share, value in result["recall_at_false_alarms"].items()
            if value is not None
        ]
        detected = f"; defective images detected: {', '.join(recalls)}" if recalls else ""
        inside = f" more than {border} px from the border" if (border := result["verdict_border"]) else ""
        stated = _interval_text(result, "image_auroc_interval", lambda interval: "{:.2f} to {:.2f}".format(*interval))
        console.line(f"  images: AUROC{inside} {result['image_auroc']:.3f} ({stated}){detected}")
    rule = result["verdict_rule"]
    use = "verdict rule" if rule["stored"] else "verdict rule, not in use"
    caught = (
        f"{rule['caught']} of {rule['defective']} defective images rejected ({_interval_text(rule, 'recall_interval')})"
    )
    false = f"{rule['false_alarms']} of {rule['good']} good ones ({_interval_text(rule, 'false_alarm_interval')})"
    console.line(f"  {use}, {choice_text(rule['choice'])}: {caught}, {false}")
    others = [f"{rule[name]} {name}" for name in OUTCOMES if name in rule]
    if others:
        missed = f"; {counted(rule['missed'], 'missed defective image')}" if "missed" in rule else ""
        console.line(f"  other verdicts: {', '.join(others)}{missed}")
    if rule["good_parts"]:
        limit, least = percent(rule["false_alarm_limit"]), percent(rule["least_limit"])
        parts = f"lowest limit that {counted(rule['good_parts'], 'part')} can show: {least}"
        console.line(f"  upper limit of false alarms on new parts: {limit}; {parts}")
    console.line(f"  {stored_text(rule, 'note')}")


def percent_range(interval: Sequence[float]) -> str:
    return f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f}%"


def _interval_text(result: Mapping[str, Any], key: str, form: Callable[[Sequence[float]], str] = percent_range) -> str:
    """Return an interval, or the reason why there is none."""
    return f"no 95% CI: {result[f'{key}_why']}" if result[key] is None else form(result[key])


def choice_text(choice: Mapping[str, Any]) -> str:
    """Format a choice of a rule."""
    band = f", unsure above {choice['unsure']:g}" if choice["unsure"] is not None else ""
    return {
        "budget": f"at most {choice['value']:g} false alarms in 100 good images",
        "cost": f"a missed defective image costs {choice['value']:g} false alarms",
        "mass": f"anomaly score above {choice['value']:g}",
        "region": "by region",
    }[choice["by"]] + band
