"""Parity check of an exported network with the trained one: same images, same code, two engines.

Networks with 32 bits must be equal to it. Those with fewer bits are close, not equal, and are accepted by their loss of
quality on labeled images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.core.messages import Message, with_messages
from workbench.inference.engines import EngineError
from workbench.inference.engines.registry import KINDS
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Predictor, apply_thresholds
from workbench.inference.regions import Region, drop_small, find_regions
from workbench.training.export.line_graph import CLASS_AREAS, CLASS_MAP, PROBABILITIES, UNSURE_INDEX, VERDICT

MOST_DIFFERENCE = 1e-4  # of a probability, in fp32
LEAST_AGREEMENT = 0.9999  # share of the pixels of a mask
REDUCED_AGREEMENT = 0.98  # for networks with fewer bits
MOST_DICE_LOSS = 0.02  # maximum loss by fewer bits on validation/test images; for verdicts of the macro F1
MOST_FOUND_LOSS = 0.02  # maximum share of the previously found defects that may be missed then
_FEW_PIXELS = 4  # tolerance of a region's area: a probability exactly at the threshold may fall either way


@dataclass
class Parity:
    """Result of the comparison of one format. why: reason of the failure; empty if it passed.

    reduced: "" or the number type with fewer bits. before, after: metrics of a reduced network on labeled images with
    32 bits and with fewer; holdout_note: note on those images.
    """

    max_abs: float = 0.0
    mask_agreement: float = 1.0  # minimum over the images; for verdicts the share that agree
    same_regions: bool = True  # for verdicts: all equal
    images: int = 0
    why: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)  # one per image
    reduced: str = ""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    holdout_note: str = ""

    @property
    def passed(self) -> bool:
        return not self.why

    def summary(self) -> dict[str, Any]:
        held_out = {"before": self.before, "after": self.after, "note": self.holdout_note}
        values = {
            **({"reduced": self.reduced, "held_out": held_out} if self.reduced else {}),
            "max_abs": self.max_abs if self.images else None,
            "mask_agreement": self.mask_agreement if self.images else None,
            "same_regions": self.same_regions if self.images else None,
            "pictures": self.images,
            "passed": self.passed,
            "why": self.why,
        }
        return with_messages(values)


@dataclass(frozen=True)
class _Output:
    probabilities: np.ndarray
    mask: np.ndarray | None
    regions: list[Region]
    verdict: int | None


def compare(
    settings: ModelSettings,
    reference: Engine,
    engines: dict[str, Engine],
    images: Sequence[tuple[str, Callable[[], np.ndarray]]],
    on_image: Callable[[int], None] = lambda done: None,
) -> dict[str, Parity]:
    """Compare each engine with `reference`. images: name, and a function that returns the pixels.

    on_image(done) is called after each image and may raise to stop. An engine error counts as a failed comparison.
    """
    results = {name: Parity(reduced=KINDS[name].reduced if name in KINDS else "") for name in engines}
    for number, (key, read) in enumerate(images, start=1):
        image = read()
        expected = _answer(Predictor(settings, reference), image)
        for name, engine in engines.items():
            if not results[name].why:
                try:
                    _add(results[name], key, image, expected, _answer(Predictor(settings, engine), image))
                except (EngineError, RuntimeError, ValueError) as error:
                    results[name].why = Message("parity.cannot_run", name=key, why=str(error).strip().splitlines()[0])
        on_image(number)
    for parity in results.values():
        parity.why = parity.why or _compare(parity)
    return results


def compare_line(
    settings: ModelSettings,
    reference: Engine,
    line: Callable[[np.ndarray], dict[str, np.ndarray]],
    images: Sequence[tuple[str, Callable[[], np.ndarray]]],
    on_image: Callable[[int], None] = lambda done: None,
) -> Parity:
    """Compare a line model with `reference`. line: image to the outputs of `line_graph`, by name.

    images: of the shape and number type of the line model. Masks are compared before the removal of small regions,
    which a line model cannot do, regions after it.
    """
    parity = Parity()
    predictor = Predictor(settings, reference)
    for number, (key, read) in enumerate(images, start=1):
        image = read()
        try:
            _add(parity, key, image, _reference_output(predictor, image), _line_output(settings, line(image)))
        except (EngineError, RuntimeError, ValueError) as error:
            parity.why = Message("parity.cannot_run", name=key, why=str(error).strip().splitlines()[0])
            break
        on_image(number)
    parity.why = parity.why or _compare(parity)
    return parity


def _reference_output(predictor: Predictor, image: np.ndarray) -> _Output:
    settings = predictor.settings
    probabilities = predictor.probabilities(image)
    if settings.task == "classification":
        best = int(np.argmax(probabilities))
        return _Output(probabilities, None, [], best if probabilities[best] >= settings.unsure else UNSURE_INDEX)
    scores = np.rint(probabilities[1:] * 255).astype(np.uint8)
    mask, _ = apply_thresholds(scores, replace(settings, min_area=(0,) * len(settings.classes)))
    return _Output(probabilities, mask, _large_regions(settings, mask, probabilities), None)


def _line_output(settings: ModelSettings, outputs: dict[str, np.ndarray]) -> _Output:
    probabilities = outputs[PROBABILITIES][0]
    if settings.task == "classification":
        return _Output(probabilities, None, [], int(outputs[VERDICT][0]))
    mask = outputs[CLASS_MAP][0]
    areas = [int(np.count_nonzero(mask == entry.id)) for entry in settings.classes]
    if areas != outputs[CLASS_AREAS][0].tolist():
        raise ValueError(f"its class areas are {outputs[CLASS_AREAS][0].tolist()}, not {areas}")
    return _Output(probabilities, mask, _large_regions(settings, mask, probabilities), None)


def _large_regions(settings: ModelSettings, mask: np.ndarray, probabilities: np.ndarray) -> list[Region]:
    scores = np.rint(probabilities[1:].max(axis=0) * 255).astype(np.uint8)
    areas = {entry.id: area for entry, area in zip(settings.classes, settings.min_area)}
    return find_regions(drop_small(mask, areas), scores, settings)


def _answer(predictor: Predictor, image: np.ndarray) -> _Output:
    settings = predictor.settings
    probabilities = predictor.probabilities(image)
    if settings.task == "classification":
        return _Output(probabilities, None, [], int(np.argmax(probabilities)))
    # Same computation as in `predict`, from these probabilities, so that the network runs once.
    mask, scores = apply_thresholds(np.rint(probabilities[1:] * 255).astype(np.uint8), settings)
    return _Output(probabilities, mask, find_regions(mask, scores, settings), None)


def _add(parity: Parity, key: str, image: np.ndarray, expected: _Output, actual: _Output) -> None:
    difference = float(np.abs(expected.probabilities - actual.probabilities).max())
    if expected.mask is None or actual.mask is None:
        same = expected.verdict == actual.verdict
        agreement = 1.0 if same else 0.0
        earlier = parity.mask_agreement * parity.images
        parity.mask_agreement = (earlier + agreement) / (parity.images + 1)
    else:
        same = same_regions(expected.regions, actual.regions)
        agreement = float(np.mean(expected.mask == actual.mask))
        parity.mask_agreement = min(parity.mask_agreement, agreement)
    parity.max_abs = max(parity.max_abs, difference)
    parity.same_regions &= same
    parity.images += 1
    height, width = image.shape[:2]
    row = {"picture": key, "width": width, "height": height, "type": image.dtype.name}
    row.update(max_abs=difference, mask_agreement=agreement, same_regions=same, regions=len(expected.regions))
    parity.rows.append(row)


def same_regions(expected: Sequence[Region], actual: Sequence[Region]) -> bool:
    """Return True if every region larger than a few pixels has an equal one on the other side."""
    return all(
        any(_alike(region, other) for other in others)
        for regions, others in ((expected, actual), (actual, expected))
        for region in regions
        if region.area > _FEW_PIXELS
    )


def _alike(a: Region, b: Region) -> bool:
    near = all(abs(getattr(a, side) - getattr(b, side)) <= 2 for side in ("x", "y", "width", "height"))
    return a.class_id == b.class_id and near and abs(a.area - b.area) <= max(_FEW_PIXELS, 0.001 * a.area)


def _compare(parity: Parity) -> str:
    if not parity.images:
        return Message("parity.no_images")
    if parity.reduced:
        return _compare_reduced(parity)
    if not parity.max_abs <= MOST_DIFFERENCE:
        return Message("parity.probability", n=f"{parity.max_abs:.2g}", m=f"{MOST_DIFFERENCE:g}")
    if parity.mask_agreement < LEAST_AGREEMENT:
        return Message("parity.agreement", n=f"{parity.mask_agreement:.4%}", m=f"{LEAST_AGREEMENT:.2%}")
    return "" if parity.same_regions else Message("parity.regions")


def _compare_reduced(parity: Parity) -> str:
    if not np.isfinite(parity.max_abs):
        return Message("parity.not_finite")
    if parity.mask_agreement < REDUCED_AGREEMENT:
        return Message("parity.agreement", n=f"{parity.mask_agreement:.2%}", m=f"{REDUCED_AGREEMENT:.0%}")
    return ""


def check_cost(parity: Parity, before: dict[str, Any], after: dict[str, Any] | None, note: str) -> None:
    """Record in `parity` of a reduced network its metrics on labeled images; set `why` if the loss is too large."""
    parity.before, parity.after, parity.holdout_note = before, after or {}, note
    if parity.why:
        return
    if after is None or not before:
        parity.why = Message("parity.no_labels")
        return
    score = "macro_f1" if "macro_f1" in before else "dice"
    if before[score] is not None and (after[score] is None or before[score] - after[score] > MOST_DICE_LOSS):
        name = "macro F1" if score == "macro_f1" else "Dice"
        then = "nothing" if after[score] is None else f"{after[score]:.3f}"
        parity.why = Message("parity.metric", name=name, n=f"{before[score]:.3f}", m=then)
    elif "found" in before and before["found"] - after["found"] > MOST_FOUND_LOSS * before["found"]:
        parity.why = Message("parity.found", n=after["found"], m=before["defects"], k=before["found"])


def report(parity: dict[str, Parity], place: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of parity.json.

    reference, limits, limits_reduced (of formats with fewer bits), environment; formats: {name: {"max_abs",
    "mask_agreement", "same_regions", "pictures", "passed", "why", "rows": one per image}}, and for formats with fewer
    bits "reduced" and "held_out": {"before", "after", "note"} with the metrics on labeled images.
    """
    return {
        "reference": f"Paddle, 32 bits, {place}".rstrip(", "),
        "limits": {"max_abs": MOST_DIFFERENCE, "mask_agreement": LEAST_AGREEMENT, "same_regions": True},
        "limits_reduced": {
            "mask_agreement": REDUCED_AGREEMENT,
            "dice_loss": MOST_DICE_LOSS,
            "found_loss": MOST_FOUND_LOSS,
        },
        "formats": {name: {**found.summary(), "rows": found.rows} for name, found in parity.items()},
        "environment": dict(environment),
    }
