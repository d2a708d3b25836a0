"""Text report of an evaluation for the terminal."""

from __future__ import annotations

from typing import Any

from workbench.cli.train import summary
from workbench.cli.verb_runner import Console, percent
from workbench.core.evaluation.evaluation_summary import Alert

_ALERTS: dict[Alert, str] = {
    "only_background": "The model marks nothing at all, although there are defects.",
    "everything": "The model marks more than half of all pixels: finding defects like that is no merit.",
    "every_good_picture": "There is a false alarm on every good picture: good and bad are not told apart.",
    "one_class": "The model calls everything by the same class: it does not tell them apart.",
}


def print_report(result: dict[str, Any], talk: Console) -> None:
    where = {"all": "all pictures (includes pictures it learned from)"}.get(result["split"], result["split"])
    talk.line(f"Run {result['run']} ({result['model']}), {where}:")
    talk.line(f"  {summary(result)}")
    (_print_verdicts if result["model"] == "resnet" else _print_classes)(result, talk)
    for note in result["notes"]:
        talk.line(note)
    for entry in result["skipped"]:
        talk.line(f"Skipped {entry['path']}: {entry['why']}")


def _print_classes(result: dict[str, Any], talk: Console) -> None:
    for name, scores in result["per_class"].items():
        dice = "-" if scores["dice"] is None else f"{scores['dice']:.3f}"
        found = _share(scores["recall_defects"], scores["recall_interval"], scores["enough"])
        talk.line(f"  {name}: dice {dice}, {found} of {scores['defects']} defects found")
    for size in result["by_size"]:
        high, unit = size["below_area"], "pixels"
        low = size["from_area"]
        if size["from_um2"] is not None:
            low, high, unit = size["from_um2"], size["below_um2"], "µm²"
        where = f"{low:,.0f} {unit} and more" if high is None else f"{low:,.0f} to {high:,.0f} {unit}"
        found = _share(size["recall"], size["recall_interval"], size["enough"])
        talk.line(f"  defects of {where}: {found} of {size['defects']} found")
    regions = result["regions"]
    false = f"  false alarms: {regions['false']} in all, {regions['false_per_picture']:.2f} a picture"
    if regions["false_interval"] is not None:
        low, high = regions["false_interval"]
        false += f" ({low:.2f} to {high:.2f}, of {result['parts']} parts)"
    if regions["false_per_good_picture"] is not None:
        rate = f"{regions['false_per_good_picture']:.2f} on each of the {result['good_pictures']} good pictures"
        false += f"; {rate}"
    talk.line(false)
    for alert in result["alerts"]:
        talk.line(f"  {_ALERTS[alert]}")


def _share(value: float | None, interval: list[float] | None, enough: bool) -> str:
    """Format a share with its interval. Without enough samples (`enough` is False) only the interval is shown."""
    if value is None or interval is None:
        return "-"
    between = f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f} %"
    return f"{percent(value)} ({between})" if enough else between


def _print_verdicts(result: dict[str, Any], talk: Console) -> None:
    confusion, band = result["confusion"], result.get("unsure")
    if band:
        rest = f"of the others {band['errors_left']} are wrong"
        talk.line(f"  {band['pictures']} pictures are unsure (below {band['below']:.0%}); {rest}")
    talk.line(f"  probabilities are off by {result['calibration_error']:.1%} on average")
    width = max(len(name) for name in confusion["names"])
    talk.line(f"  labelled {'':{width}}  said: " + "  ".join(confusion["names"]))
    for name, row in zip(confusion["names"], confusion["rows"]):
        cells = "  ".join(f"{count:>{len(said)}}" for count, said in zip(row, confusion["names"]))
        talk.line(f"           {name:{width}}        {cells}")
