"""Content of a model card: every number with the data it was measured on, every choice with its reason, and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from workbench import __version__
from workbench.core.runs.dataset import SPLITS, Dataset
from workbench.core.runs.events import Finished
from workbench.inference.batch.export_package import requirement_files
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.training.model_card import card_metrics
from workbench.training.model_card.card_document import (
    Block,
    CardGallery,
    CardSection,
    CardText,
    Code,
    Headline,
    ModelCard,
    Points,
    Table,
)
from workbench.training.model_card.card_evaluation import HoldoutResult
from workbench.training.model_card.provenance import CardSources, images_with, limits, lineage
from workbench.training.operating_point_origin import OperatingPointOrigin


def make_card(sources: CardSources) -> ModelCard:
    settings, found = sources.settings, sources.found
    what = "marks defects in pictures" if settings.task == "segmentation" else "gives pictures a verdict"
    sections = [
        CardSection("Performance", [*_limitations(sources), *card_metrics.tables(settings, found)]),
        *_worst(found),
        CardSection("Operating point", [*_operating_point(settings), *_who_chose(sources.point)]),
        CardSection("Export verification", _parity(sources)),
        *_speed(sources),
        CardSection("Training data", _data(sources)),
        CardSection("Training settings", _settings(sources)),
        CardSection("Limitations", [Points(list(limits(sources)))]),
        CardSection("Origin", [Points(list(lineage(sources)))]),
        CardSection("Run it", _use(settings)),
    ]
    return ModelCard(
        title=f"{settings.name}: a model that {what}",
        lead=f"From the run `{sources.run.name}`, by Defect Workbench {__version__}.",
        headlines=[*card_metrics.headlines(settings, found), *_speed_headline(sources)],
        sections=sections,
    )


# --- quality and its uncertainty ------------------------------------------------------------------------


def _limitations(sources: CardSources) -> Iterator[Block]:
    found = sources.found
    looked = len(found.facts) or len(found.verdicts)
    if not found.split or not looked:
        why = "no labelled pictures were held out" if not found.split else "none of the held-out pictures can be read"
        yield CardText(f"Not known: {why}. Every number here would be an invention.", warns=True)
        return
    if found.split == "test" and "test" in sources.point.chosen_on:
        yield CardText(
            f"Measured with this export on {looked} pictures of `test`: it has not learned from them, but its "
            "operating point was chosen by them, so expect a little less. Intervals are those of 95 %."
        )
    elif found.split == "test":
        yield CardText(
            f"Measured with this export on {looked} pictures of `test`: it has not learned from them, and they had no "
            "say in any choice. Intervals are those of 95 %."
        )
    else:
        yield CardText(
            f"Measured with this export on {looked} pictures of `val`: it has not learned from them, but weights and "
            "thresholds were chosen by them, so expect a little less. Intervals are those of 95 %."
        )
    if looked < found.total - found.unreadable:
        yield CardText(f"There was time for {looked} of the {found.total} held-out pictures.", warns=True)
    if found.unreadable:
        yield CardText(f"{found.unreadable} held-out pictures are left out: they or their labels are gone or broken.")
    if found.changed:
        yield CardText(
            f"{found.changed} labels were changed since the training; the present ones were used.", warns=True
        )
    if sources.dataset.held_out_note:
        yield CardText(sources.dataset.held_out_note, warns=True)


def _worst(found: HoldoutResult) -> list[CardSection]:
    if found.worst:
        legend = f"from `{found.split}`, the worst first".replace("`", "")
        return [CardSection("Its worst cases", [CardGallery(legend, found.worst)])]
    return []


def _operating_point(settings: ModelSettings) -> list[Block]:
    if settings.task == "classification":
        kinds = ", ".join(settings.verdicts)
        says = f"The likeliest of {kinds}. Probabilities are calibrated (temperature {settings.temperature:.3g})."
        if settings.unsure:
            says += f" A verdict less probable than {settings.unsure:.0%} is not given: it says “{UNSURE}”."
        return [CardText(says)]
    um = settings.um_per_pixel
    rows = []
    for entry, threshold, area in zip(settings.classes, settings.thresholds, settings.min_area):
        least = f"{area}" + (f" ({area * um**2:.4g} µm²)" if um and area else "")
        rows.append([entry.name, f"{entry.id}", f"{threshold:g}", least])
    says = (
        "A pixel is a defect if its probability reaches the threshold of its class. Regions below the "
        "minimum area are dropped."
    )
    head = ["class", "value in the mask", "least probability", "least area in pixels"]
    return [CardText(says), Table(head, rows)]


def _who_chose(point: OperatingPointOrigin) -> Iterator[Block]:
    """Yield the origin of the operating point; nothing for that of the training, the usual case described above."""
    looked_at = " and ".join(f"`{split}`" for split in point.chosen_on)
    if point.chosen_by == "review" and looked_at:
        yield CardText(f"A person has chosen this operating point in review, on pictures of {looked_at}.")
    elif point.chosen_by == "review":
        yield CardText("This operating point was set manually in the evaluation.")
    elif point.chosen_by == "export" and looked_at:
        yield CardText(f"This operating point was asked for when the export was made, on pictures of {looked_at}.")
    elif point.chosen_by == "export":
        yield CardText("This operating point was asked for when the export was made.")


def _parity(sources: CardSources) -> list[Block]:
    rows = []
    for name, found in sources.parity.items():
        offered = "yes" if found.get("passed") else f"no: {found.get('why', '')}"
        kind = f"{name} ({found['reduced']})" if found.get("reduced") else name
        most, agreement = found.get("max_abs"), found.get("mask_agreement")  # None if it could not be made here
        numbers = ["" if most is None else f"{most:.1e}", "" if agreement is None else f"{100 * agreement:.3f} %"]
        rows.append([kind, offered, *numbers, f"{found['pictures']}"])
    says = "Each network was compared with the trained one, on pictures of every kind that the project has."
    head = ["network", "offered", "greatest difference of a probability", "agreement", "pictures"]
    blocks: list[Block] = [CardText(says), Table(head, rows)]
    for name, found in sources.parity.items():
        before, after = (found.get("held_out", {}).get(key) or {} for key in ("before", "after"))
        if before and after:
            blocks.append(CardText(f"{name} on held-out pictures: {_cost(before, after)}."))
    return blocks


def _cost(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    told = []
    for key, name in (("dice", "Dice"), ("accuracy", "accuracy"), ("found", "defects found")):
        if before.get(key) is not None and after.get(key) is not None:
            form = "d" if isinstance(before[key], int) else ".3f"
            told.append(f"{name} {before[key]:{form}} with 32 bits, {after[key]:{form}} with fewer")
    return "; ".join(told)


# --- speed ------------------------------------------------------------------------------------------------


def _speed(sources: CardSources) -> list[CardSection]:
    found = sources.latency
    rows, failed = [], []
    for name, entry in found.get("engines", {}).items():
        if "error" in entry:
            failed.append(f"{name}: {entry['error']}")
        for number, row in enumerate(row for row in entry.get("rows", []) if "p50_ms" in row):
            threads = "all" if row.get("threads") == 0 else f"{row.get('threads', '')}"
            times = [_ms(row.get(key)) for key in ("p50_ms", "p95_ms", "network_ms")]
            once = [_whole(entry.get(key)) if number == 0 else "" for key in ("load_ms", "memory_mb")]
            rows.append([name, f"{row['width']} x {row['height']}", threads, *times, *once])
    if not rows:
        return []
    machine = found.get("machine", {}).get("processor", "the machine that made it")
    says = f"From picture to regions, in milliseconds, on {machine}. {found.get('note', '')}".strip()
    head = ["engine", "picture", "threads", "median", "95th percentile", "network alone", "loads in", "memory, MB"]
    blocks: list[Block] = [CardText(says), Table(head, rows)]
    plain = found.get("dygraph") or {}
    if plain:
        whole, alone = _ms(plain.get("p50_ms")), _ms(plain.get("network_ms"))
        says = f"The same network in plain Paddle, as it was trained: {whole} ms for the first size, "
        says += f"{alone} ms of it the network."
        blocks.append(CardText(says))
    if failed:
        blocks.append(Points(failed))
    return [CardSection("How fast it is", blocks)]


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _speed_headline(sources: CardSources) -> list[Headline]:
    order = sources.latency.get("order") or []
    rows = sources.latency.get("engines", {}).get(order[0], {}).get("rows", []) if order else []
    first = next((row for row in rows if "p50_ms" in row), None)
    if first is None:
        return []
    size = f"{first['width']} x {first['height']}"
    return [Headline("A picture takes", f"{first['p50_ms']:.0f} ms", f"{size}, {order[0]}")]


# --- data and training settings ---------------------------------------------------------------------------


def labels_revision(dataset: Dataset) -> str:
    """Return the shortened SHA-256 of the names, labels and splits of all images: equal for equal data."""
    lines = sorted(f"{item.key} {item.mask_hash} {item.verdict} {item.split}" for item in dataset.items)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _data(sources: CardSources) -> list[Block]:
    dataset = sources.dataset
    words = {"train": "learned from", "val": "chosen by", "test": "measured on, once"}
    columns = [name for name in SPLITS if dataset.of(name)]
    head = ["pictures", *(f"{name}, {words[name]}" for name in columns)]
    rows = [["all", *(f"{len(dataset.of(name))}" for name in columns)]]
    if dataset.model == "unet":
        for info in dataset.classes:
            rows.append([f"with {info.name}", *(f"{images_with(dataset, name, info.id)}" for name in columns)])
        good = [f"{sum(not item.classes for item in dataset.of(name))}" for name in columns]
        rows.append(["without a defect", *good])
    else:
        for verdict in dataset.verdicts:
            counts = [f"{sum(item.verdict == verdict for item in dataset.of(name))}" for name in columns]
            rows.append([verdict, *counts])
    groups = len({item.group or item.key for item in dataset.items})
    says = (
        f"{len(dataset.items)} labelled pictures of {groups} parts; pictures of one part are on one side of the split. "
        f"Labels: revision `{labels_revision(dataset)}`; held out: `{dataset.held_out_hash}`."
    )
    blocks: list[Block] = [Table(head, rows), CardText(says)]
    if dataset.skipped:
        blocks.append(CardText(f"{len(dataset.skipped)} pictures could not be used: {dataset.skipped[0].why}"))
    return blocks


def _settings(sources: CardSources) -> list[Block]:
    settings = sources.run.settings()
    values = settings.model_dump(exclude={"format", "reasons"})
    told = [key for key in values if key in settings.reasons]
    rows = [[key.replace("_", " "), _value(values[key]), settings.reasons[key]] for key in told]
    asked = f"A {settings.model} of quality '{settings.quality}', for "
    asked += f"{settings.epochs} epochs" if settings.epochs else f"{settings.minutes:g} minutes"
    ending = sources.run.ending()
    if isinstance(ending, Finished) and "steps" in ending.result:
        asked += f": {ending.result['steps']} steps in {ending.result.get('seconds', 0) / 60:.1f} minutes"
        asked += "" if ending.why == "done" else ", stopped by hand before its end"
    return [CardText(f"{asked}. Seed {settings.seed}."), Table(["setting", "value", "why"], rows)]


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value)
    return str(value)


def _use(settings: ModelSettings) -> list[Block]:
    masks = settings.task == "segmentation"
    result = "result.mask, result.regions" if masks else "result.verdict, result.probabilities"
    networks = [f"`{file}`: the network for {name}" for name, file in settings.files.items()]
    lists = requirement_files(settings.order or list(settings.files))
    packages = [f"`{file}`: the packages for {name}, instead" for name, file in list(lists.items())[1:]]
    return [
        CardText(
            "Python 3.10 or newer and the packages in `requirements.txt` are all it needs: neither the program that "
            "made it nor a network connection."
        ),
        Code(
            "pip install -r requirements.txt\n"
            "python predict.py PICTURES... --out results   # files, folders or patterns\n"
            "python predict.py FOLDER --watch              # and what is dropped there later\n"
            "python predict.py --self-test                 # does it still give what it gave when it was made?\n"
            "sha256sum -c SHA256SUMS                       # is every file as it was?"
        ),
        Code(
            "from predict import Predictor\n\n"
            "result = Predictor().predict(array)  # (H, W) or (H, W, 3) RGB; uint8, uint16 or float32\n" + result
        ),
        Points(
            [
                "`model.json`: how pictures are prepared and answers are read: normalisation, tiles, thresholds, areas",
                *networks,
                *packages,
                "`inference/`, `predict.py`: the program, NumPy and OpenCV around the network",
                "`golden/`: pictures with the results that they must give",
                "`parity.json`: the comparison with the run, picture by picture",
                "`card.html`: this page with its worst cases as pictures",
            ]
        ),
    ]
