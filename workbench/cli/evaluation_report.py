"""Text report of an evaluation for the terminal."""

from __future__ import annotations

from typing import Any

from workbench.cli.image_evaluation import print_images
from workbench.cli.train import expectation_lines, summary
from workbench.cli.verb_runner import Console, percent
from workbench.core.evaluation.evaluation_summary import Alert

_ALERTS: dict[Alert, str] = {
    "only_background": "The model predicts no defects, although there are defects.",
    "everything": "The model predicts more than half of all pixels as defects, so the recall is not meaningful.",
    "every_good_picture": "Every good image has a false alarm, so good and defective images are not separated.",
    "one_class": "The model predicts the same class for all defects.",
}


def print_report(result: dict[str, Any], console: Console) -> None:
    where = {"all": "all images (including training images)"}.get(result["split"], result["split"])
    console.line(f"Run {result['run']} ({result['model']}), {where}:")
    console.line(f"  {summary(result)}")
    (_print_verdicts if result["model"] == "resnet" else _print_classes)(result, console)
    for line in expectation_lines(result):
        console.line(f"  {line}")
    for note in result["notes"]:
        console.line(note)
    for entry in result["skipped"]:
        console.line(f"Skipped {entry['path']}: {entry['why']}")


def _print_classes(result: dict[str, Any], console: Console) -> None:
    for name, scores in result["per_class"].items():
        dice = "-" if scores["dice"] is None else f"{scores['dice']:.3f}"
        recall = _share(scores["recall_defects"], scores["recall_interval"], scores["enough"])
        console.line(f"  {name}: Dice {dice}, {recall} of {scores['defects']} defects detected")
    for size in result["by_size"]:
        high, unit = size["below_area"], "pixels"
        low = size["from_area"]
        if size["from_um2"] is not None:
            low, high, unit = size["from_um2"], size["below_um2"], "µm²"
        where = f"{low:,.0f} {unit} and more" if high is None else f"{low:,.0f} to {high:,.0f} {unit}"
        recall = _share(size["recall"], size["recall_interval"], size["enough"])
        console.line(f"  defects of {where}: {recall} of {size['defects']} detected")
    regions = result["regions"]
    false = f"  false alarms: {regions['false']} in total, {regions['false_per_picture']:.2f} per image"
    if regions["false_interval"] is not None:
        low, high = regions["false_interval"]
        false += f" ({low:.2f} to {high:.2f}, of {result['parts']} parts)"
    if regions["false_per_good_picture"] is not None:
        rate = f"{regions['false_per_good_picture']:.2f} on each of the {result['good_pictures']} good images"
        false += f"; {rate}"
    console.line(false)
    print_images(result, console)
    for alert in result["alerts"]:
        console.line(f"  {_ALERTS[alert]}")


def _share(value: float | None, interval: list[float] | None, enough: bool) -> str:
    """Format a share with its interval. Without enough samples (`enough` is False) only the interval is shown."""
    if value is None or interval is None:
        return "-"
    between = f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f}%"
    return f"{percent(value)} ({between})" if enough else between


def _print_verdicts(result: dict[str, Any], console: Console) -> None:
    confusion, band = result["confusion"], result.get("unsure")
    if band:
        rest = f"{band['errors_left']} of the others are wrong"
        console.line(f"  {band['pictures']} images are unsure (below {band['below']:.0%}); {rest}")
    console.line(f"  mean calibration error of the probabilities: {result['calibration_error']:.1%}")
    width = max(len(name) for name in confusion["names"])
    console.line(f"  labeled {'':{width}}  predicted: " + "  ".join(confusion["names"]))
    for name, row in zip(confusion["names"], confusion["rows"]):
        cells = "  ".join(f"{count:>{len(predicted)}}" for count, predicted in zip(row, confusion["names"]))
        console.line(f"          {name:{width}}             {cells}")
