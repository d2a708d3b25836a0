"""Parity check of an exported network with the trained one: same images, same code, two engines.

Networks with 32 bits must be equal to it. Those with fewer bits are close, not equal, and are accepted by their loss of
quality on labeled images.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from workbench.core.messages import Message, with_messages
from workbench.inference import components
from workbench.inference.engines import EngineError
from workbench.inference.engines.registry import KINDS
from workbench.inference.inspection_area import placed_area
from workbench.inference.known_features import UnlikeScore
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Predictor, apply_thresholds
from workbench.inference.regions import drop_small
from workbench.training.export.line_graph import CLASS_AREAS, CLASS_MAP, PROBABILITIES, UNLIKE, UNSURE_INDEX, VERDICT

MOST_DIFFERENCE = 1e-4  # of a probability, in fp32
LEAST_AGREEMENT = 0.9999  # share of the pixels of a mask
REDUCED_AGREEMENT, REDUCED_UNLIKE_DIFFERENCE = 0.98, 0.2  # for networks with fewer bits
MOST_DICE_LOSS = 0.02  # maximum loss by fewer bits on validation/test images; for verdicts of the macro F1
MOST_FOUND_LOSS = 0.02  # maximum share of the previously found defects that may be missed then
MOST_UNLIKE_DIFFERENCE = 0.01  # of an unlike score, in fp32; of scores above 1 as a share
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
    unlike: float | None = None  # greatest difference of an unlike score; None if it was not compared
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
            "unlike": self.unlike,
            "pictures": self.images,
            "passed": self.passed,
            "why": self.why,
        }
        return with_messages(values)


@dataclass(frozen=True)
class Output:
    """Result of a network on an image.

    regions: see `measure_regions`; none of a model for verdicts. unlike: score; None if there is none.
    """

    probabilities: np.ndarray
    mask: np.ndarray | None
    regions: np.ndarray
    verdict: int | None
    unlike: float | None


_NO_REGIONS = np.zeros((0, 6), np.int64)


def compare(
    settings: ModelSettings,
    reference: Engine,
    engines: dict[str, Engine],
    images: Sequence[tuple[str, Callable[[], np.ndarray]]],
    on_image: Callable[[float], None] = lambda done: None,
    known: Mapping[str, Output] | None = None,
) -> dict[str, Parity]:
    """Compare each engine with `reference`. images: name, and a function that returns the pixels.

    known: results of `reference` on some of these images, of the same network and other thresholds at most.

    on_image(done) is called after each image, and with a fraction of it at every call of a network and every step of
    the comparison. It may raise to stop. An engine error counts as a failed comparison.
    """
    results = {name: Parity(reduced=KINDS[name].reduced if name in KINDS else "") for name in engines}
    for number, (key, read) in enumerate(images):
        image = read()
        ticks = [partial(on_image, number + place / (1 + len(engines))) for place in range(1 + len(engines))]
        expected = network_output(settings, reference, image, ticks[0], (known or {}).get(key))
        for tick, (name, engine) in zip(ticks[1:], engines.items()):
            if not results[name].why:
                try:
                    _add(results[name], key, image, expected, network_output(settings, engine, image, tick), tick)
                except (EngineError, RuntimeError, ValueError) as error:
                    results[name].why = Message("parity.cannot_run", name=key, why=str(error).strip().splitlines()[0])
        on_image(number + 1)
    for parity in results.values():
        parity.why = parity.why or _compare(parity)
    return results


def compare_line(
    settings: ModelSettings,
    reference: Engine,
    line: Callable[[np.ndarray], dict[str, np.ndarray]],
    images: Sequence[tuple[str, Callable[[], np.ndarray]]],
    on_image: Callable[[float], None] = lambda done: None,
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


def _reference_output(predictor: Predictor, image: np.ndarray) -> Output:
    settings = predictor.settings
    probabilities, unlike = _predicted(predictor, image)
    if settings.task == "classification":
        best = int(np.argmax(probabilities))
        verdict = best if probabilities[best] >= settings.unsure else UNSURE_INDEX
        return Output(probabilities, None, _NO_REGIONS, verdict, unlike)
    scores = np.rint(probabilities[1:] * 255).astype(np.uint8)
    mask, _ = apply_thresholds(scores, replace(settings, min_area=(0,) * len(settings.classes)))
    return Output(probabilities, mask, _large_regions(settings, mask), None, unlike)


def _predicted(
    predictor: Predictor, image: np.ndarray, cancelled: Callable[[], bool] | None = None
) -> tuple[np.ndarray, float | None]:
    """Return the probabilities, and the unlike score if model and engine have one. cancelled: as of the predictor."""
    known = predictor.settings.unlike
    area, _ = placed_area(predictor.settings.areas, "", image)
    cells = None if known is None else UnlikeScore(known, None if area is None else area.inside(image.shape))
    probabilities = predictor.probabilities(image, cancelled=cancelled, cells=cells)
    found = None if cells is None else cells.checked(None, image.shape)
    return probabilities, None if found is None else found.unlike


def _line_output(settings: ModelSettings, outputs: dict[str, np.ndarray]) -> Output:
    probabilities = outputs[PROBABILITIES][0]
    unlike = float(outputs[UNLIKE][0]) if UNLIKE in outputs else None
    if settings.task == "classification":
        return Output(probabilities, None, _NO_REGIONS, int(outputs[VERDICT][0]), unlike)
    mask = outputs[CLASS_MAP][0]
    areas = [int(np.count_nonzero(mask == entry.id)) for entry in settings.classes]
    if areas != outputs[CLASS_AREAS][0].tolist():
        raise ValueError(f"its class areas are {outputs[CLASS_AREAS][0].tolist()}, not {areas}")
    return Output(probabilities, mask, _large_regions(settings, mask), None, unlike)


def _large_regions(settings: ModelSettings, mask: np.ndarray) -> np.ndarray:
    areas = {entry.id: area for entry, area in zip(settings.classes, settings.min_area)}
    return measure_regions(settings, drop_small(mask, areas))


def network_output(
    settings: ModelSettings, engine: Engine, image: np.ndarray, tick: Callable[[], None], known: Output | None = None
) -> Output:
    """Return the result of a network on an image.

    tick: called before each call of the network and each step after it. known: result with other thresholds.
    """
    if known is not None:
        probabilities, unlike = known.probabilities, known.unlike
    else:
        probabilities, unlike = _predicted(Predictor(settings, engine), image, lambda: bool(tick()))
    if settings.task == "classification":
        return Output(probabilities, None, _NO_REGIONS, int(np.argmax(probabilities)), unlike)
    # Same computation as in `predict`, from these probabilities, so that the network runs once.
    mask, _ = apply_thresholds(np.rint(probabilities[1:] * 255).astype(np.uint8), settings)
    return Output(probabilities, mask, measure_regions(settings, mask, tick), None, unlike)


def _add(
    parity: Parity,
    key: str,
    image: np.ndarray,
    expected: Output,
    actual: Output,
    tick: Callable[[], None] = lambda: None,
) -> None:
    difference = float(np.abs(expected.probabilities - actual.probabilities).max())
    if expected.mask is None or actual.mask is None:
        same = expected.verdict == actual.verdict
        agreement = 1.0 if same else 0.0
        earlier = parity.mask_agreement * parity.images
        parity.mask_agreement = (earlier + agreement) / (parity.images + 1)
    else:
        same = same_regions(expected.regions, actual.regions, tick)
        agreement = float(np.mean(expected.mask == actual.mask))
        parity.mask_agreement = min(parity.mask_agreement, agreement)
    parity.max_abs = max(parity.max_abs, difference)
    parity.same_regions &= same
    unlike = None
    if expected.unlike is not None and actual.unlike is not None:
        unlike = abs(expected.unlike - actual.unlike) / max(1.0, expected.unlike)
        parity.unlike = max(unlike, parity.unlike or 0.0)
    parity.images += 1
    height, width = image.shape[:2]
    row = {"picture": key, "width": width, "height": height, "type": image.dtype.name}
    row.update(max_abs=difference, mask_agreement=agreement, same_regions=same, regions=len(expected.regions))
    row.update(unlike=unlike)
    parity.rows.append(row)


def measure_regions(settings: ModelSettings, mask: np.ndarray, tick: Callable[[], None] = lambda: None) -> np.ndarray:
    """Return class id, x, y, width, height and area of each region of a mask, uint8 (H, W): int64 (regions, 6).

    A weak network marks hundreds of thousands of regions, so that there are no objects of them.
    tick: called before each class.
    """
    rows = [_NO_REGIONS]
    for entry in settings.classes:
        tick()
        found = components.measure(mask, entry.id, mask)
        sides = (found.right - found.left, found.bottom - found.top)
        rows.append(np.column_stack([np.full(len(found.area), entry.id), found.left, found.top, *sides, found.area]))
    return np.concatenate(rows)


_NEAR = 2  # pixels; tolerance of a side of the bounding box


def same_regions(expected: np.ndarray, actual: np.ndarray, tick: Callable[[], None] = lambda: None) -> bool:
    """Return True if every region larger than a few pixels has an equal one on the other side.

    Both: as of `measure_regions`. tick: called at least every second.
    """
    return all(
        _have_equals(regions[regions[:, 5] > _FEW_PIXELS], others, tick)
        for regions, others in ((expected, actual), (actual, expected))
    )


def _have_equals(regions: np.ndarray, others: np.ndarray, tick: Callable[[], None]) -> bool:
    """Return True if each region has an equal one, in O(n log n).

    Bounding boxes, as points of four dimensions, are sorted by cells of a grid. Equal ones are in the same cell or in a
    neighbor, and a cell holds few: no two regions of a class touch all four sides of one box.
    """
    # Identical boxes first, which are nearly all. Then both ends of the range that an equal box may have on each side.
    for cell, ends in ((1, (0,)), (2 * _NEAR + 1, (_NEAR, -_NEAR))):
        keys = _cell_keys(others[:, 0], others[:, 1:5] // cell)
        order = np.argsort(keys)
        keys = keys[order]
        for shift in itertools.product(ends, repeat=4):
            tick()
            if not len(regions):
                return True
            cells = _cell_keys(regions[:, 0], (regions[:, 1:5] + np.array(shift)) // cell)
            by_key = np.argsort(cells)  # sorted values are searched faster
            regions, cells = regions[by_key], cells[by_key]
            place = np.searchsorted(keys, cells)
            waiting = np.flatnonzero(keys[np.minimum(place, len(keys) - 1)] == cells) if len(keys) else place[:0]
            found = np.zeros(len(regions), bool)
            while len(waiting):
                found[waiting] = _equal(regions[waiting], others[order[place[waiting]]])
                place[waiting] += 1
                waiting = waiting[~found[waiting] & (place[waiting] < len(keys))]
                waiting = waiting[keys[place[waiting]] == cells[waiting]]
            regions = regions[~found]
    return not len(regions)


def _cell_keys(class_ids: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return a hash of class and cell, uint64 (n,). cells: int64 (n, 4)."""
    keys = class_ids.astype(np.uint64)
    for column in cells.T:
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
    return keys


def _equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    near = (np.abs(a[:, 1:5] - b[:, 1:5]) <= _NEAR).all(axis=1) & (a[:, 0] == b[:, 0])
    return near & (np.abs(a[:, 5] - b[:, 5]) <= np.maximum(_FEW_PIXELS, 0.001 * a[:, 5]))


def _compare(parity: Parity) -> str:
    if not parity.images:
        return Message("parity.no_images")
    if parity.reduced:
        return _compare_reduced(parity)
    if not parity.max_abs <= MOST_DIFFERENCE:
        return Message("parity.probability", n=f"{parity.max_abs:.2g}", m=f"{MOST_DIFFERENCE:g}")
    if parity.mask_agreement < LEAST_AGREEMENT:
        return Message("parity.agreement", n=f"{parity.mask_agreement:.4%}", m=f"{LEAST_AGREEMENT:.2%}")
    return _compare_unlike(parity, MOST_UNLIKE_DIFFERENCE) or ("" if parity.same_regions else Message("parity.regions"))


def _compare_unlike(parity: Parity, most: float) -> str:
    if parity.unlike is None or parity.unlike <= most:
        return ""
    return Message("parity.unlike", n=f"{parity.unlike:.2g}", m=f"{most:g}")


def _compare_reduced(parity: Parity) -> str:
    if not np.isfinite(parity.max_abs):
        return Message("parity.not_finite")
    if parity.mask_agreement < REDUCED_AGREEMENT:
        return Message("parity.agreement", n=f"{parity.mask_agreement:.2%}", m=f"{REDUCED_AGREEMENT:.0%}")
    return _compare_unlike(parity, REDUCED_UNLIKE_DIFFERENCE)


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
