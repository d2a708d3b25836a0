"""Split of labeled images into training, validation and test by part; held-out parts are far from training parts."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.annotation import Split
from workbench.core.project.grouping import split_number
from workbench.core.project.project import Project
from workbench.core.stored_model import StoredModel
from workbench.inference.text_safety import natural_key

SPLITS: tuple[Split, ...] = ("train", "val", "test")
FEWEST = 10  # training examples; with fewer, none of them can be held out
_OF_VERDICT = 8  # images for each verdict with which a fifth of them is two
_MANY = 30  # images of a class from which on they are divided by painted area
FEWEST_PARTS = 3  # that show a class; with fewer, all of them are needed for training
_LEAST = 0.75  # of its share, below which a split gets further groups
_LARGEST = 2.0  # images of a class in a held-out part, relative to the share to hold out
_GAPS = (3, 2, 1)  # numbers of a series between training and held-out images, the widest that costs few images
_GAP_COST = 0.05  # greatest share of the training images that is left out for it


class Item(StoredModel):
    """Image of a dataset."""

    key: str
    split: Split = "train"
    group: str = ""
    width: int = 0
    height: int = 0
    verdict: str | None = None
    classes: list[int] = []  # class ids painted in the image
    pixels: list[int] = []  # number of pixels per class
    mask_hash: str = ""  # of the label when the run was created

    @property
    def part(self) -> str:
        """Part that the image shows; an image without a group is a part of its own."""
        return self.group or self.key


def fewest(verdicts: int = 0) -> int:
    """Return the number of training examples from which on some of them are held out. verdicts: 0 for masks.

    With fewer all are used for training, which improves the model much, while one or two validation images, or one of
    each verdict, are not informative.
    """
    return max(FEWEST, _OF_VERDICT * verdicts)


def shares(images: int, parts: int, least: int = FEWEST) -> dict[Split, float]:
    """Return the share of labeled images per split.

    images: number of training examples. parts: number of different parts among them. least: see `fewest`. A test set of
    fewer than nine parts is not informative.
    """
    if images < least:
        return {"train": 1.0, "val": 0.0, "test": 0.0}
    if parts < 60:
        return {"train": 0.8, "val": 0.2, "test": 0.0}
    return {"train": 0.70, "val": 0.15, "test": 0.15}


def split_by_part(
    project: Project, items: list[Item], notes: dict[str, annotation.Note], trained_keys: set[str]
) -> None:
    """Assign groups so that every stratum (verdict, or painted classes) reaches its share; independent of their order.

    Of each stratum the last groups in the order of their names are the test images, and those before them the
    validation images. Cameras number images in the order of parts, so the test images are those farthest from the
    training images: with short blocks spread over the series, neighbors of nearly every test image would be training
    images, and the metrics would be those of known parts (block cross-validation, Roberts et al. 2017). Strata are
    processed from the rarest to the most frequent, each group with its rarest one (after Sechidis et al. 2011).

    A painted class on fewer than three parts stays in training if others can be held out: half of its images or more
    would be lost for a metric of a single part. For the same reason a group with more than twice the images to hold out
    stays in training if there is a smaller one.

    Groups that the run of the newest export held out stay in their split: a new run can then be compared with the
    exported one on the same images.
    """
    from workbench.core.runs.release import exported_splits

    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    strata = _strata(items)
    totals = Counter(stratum for names in strata.values() for stratum in names)
    informative = informative_items(items)
    least = fewest(verdict_count(items))
    target_shares = shares(len(informative), len({item.group for item in informative}), least)
    assigned: dict[Split, Counter] = {split: Counter() for split in SPLITS}

    def assign(members: list[Item], split: Split) -> None:
        for item in members:
            item.split = split
            assigned[split].update(strata[item.key])

    of_stratum: dict[object, list[list[Item]]] = {}
    exported = exported_splits(project)
    for members in groups.values():
        pins: list[Split] = [pin for item in members if (pin := notes[item.key].pin)]
        if pins:  # images of a group that the user has assigned to different splits each keep their own
            for item in members:
                assign([item], notes[item.key].pin or pins[0])
        elif (fixed := _fixed_split(members, trained_keys, exported)) and target_shares[fixed]:
            assign(members, fixed)
        else:
            rarest = min((s for item in members for s in strata[item.key]), key=lambda s: (totals[s], str(s)))
            of_stratum.setdefault(rarest, []).append(members)
    if not target_shares["test"]:
        totals -= assigned["test"]  # set apart by the user; the others are distributed without these
    requested: list[Split] = [
        split for split in SPLITS[:0:-1] if target_shares[split]
    ]  # held-out splits, the last one first
    rare = rare_classes(items)
    for stratum in sorted(of_stratum, key=lambda s: (totals[s], str(s))):
        ordered = _in_series_order(project, of_stratum[stratum])
        amounts = [sum(stratum in strata[item.key] for item in members) for members in ordered]
        for position, split in enumerate(() if stratum in rare else requested):
            share = target_shares[split] * totals[stratum]
            lack = share - assigned[split][stratum]
            needed = len(requested) - position  # groups to leave for the other splits
            while len(ordered) > needed and lack > 0:
                last = len(ordered) - 1
                chosen = next((n for n in range(last, -1, -1) if amounts[n] <= _LARGEST * share), last)
                amount = amounts[chosen]
                if assigned[split][stratum] and amount / 2 > lack:
                    break
                lack -= amount
                del amounts[chosen]
                assign(ordered.pop(chosen), split)
        for members in ordered:
            assign(members, "train")
    kept = trained_keys | {item.key for item in items if notes[item.key].pin}
    _fill_small_splits(items, {split: target_shares[split] for split in requested}, kept)
    _ensure_labeled_images(items, trained_keys, [split for split in SPLITS if target_shares[split]])


def _fixed_split(members: list[Item], trained_keys: set[str], exported: dict[str, Split]) -> Split | None:
    """Return "train" if the initial network was trained on the group, else the split in which the exported run held it.

    None if neither is true, or if that run divided the group. exported: splits of the images of that run.
    """
    if any(item.key in trained_keys for item in members):
        return "train"
    before = {exported[item.key] for item in members if item.key in exported}
    return next((split for split in SPLITS[1:] if before == {split}), None)


def _in_series_order(project: Project, groups: list[list[Item]]) -> list[list[Item]]:
    """Return groups in the natural order of their names; with a split seed, starting elsewhere in that order.

    If every image is a part of its own, their order has no meaning and is shuffled.
    """
    if project.file.grouping.rule == "each":
        return sorted(groups, key=lambda members: _digest(project, members[0].group))
    ordered = sorted(groups, key=lambda members: min(natural_key(item.key) for item in members))
    start = project.file.split_seed * len(ordered) * 2 // 5 % max(1, len(ordered))
    return ordered[start:] + ordered[:start]


def _digest(project: Project, name: str) -> str:
    return hashlib.sha256(f"{project.file.split_seed}:{name}".encode()).hexdigest()


def informative_items(items: list[Item]) -> list[Item]:
    """Return the items with painted classes, or all items if there are none."""
    return [item for item in items if item.classes] or items


def verdict_count(items: list[Item]) -> int:
    """Return the number of different verdicts of the items, 0 if they have painted classes."""
    return 0 if any(item.classes for item in items) else len({item.verdict for item in items})


def mostly_one_class(items: list[Item]) -> bool:
    """Return whether there are several painted classes, and two thirds of the images with classes show only one."""
    painted = [set(item.classes) for item in items if item.classes]
    return len(set().union(*painted)) > 1 and 3 * sum(len(ids) == 1 for ids in painted) >= 2 * len(painted)


def _strata(items: list[Item]) -> dict[str, list[object]]:
    """Return the strata of each image by key: its classes, each with a third by painted area; its verdict; or "good".

    Defects of one class may look different, such as pores and stains. Without the thirds a class of many small and a
    few large defects might have only small ones among the validation images.
    """
    shares: dict[int, list[float]] = {}
    for item in items:
        for id, pixels in zip(item.classes, item.pixels):
            shares.setdefault(id, []).append(pixels / max(1, item.width * item.height))
    limits = {id: np.quantile(values, (1 / 3, 2 / 3)) for id, values in shares.items() if len(values) >= _MANY}
    strata: dict[str, list[object]] = {}
    for item in items:
        if item.classes:
            strata[item.key] = [
                (id, int(np.searchsorted(limits[id], pixels / max(1, item.width * item.height))))
                if id in limits
                else id
                for id, pixels in zip(item.classes, item.pixels, strict=True)
            ]
        else:
            strata[item.key] = ["good" if item.verdict is None else item.verdict]
    return strata


def rare_classes(items: Sequence[Item]) -> set[int]:
    """Return the ids of painted classes that fewer than three groups show; none if that applies to all of them."""
    groups: dict[int, set[str]] = {}
    for item in items:
        for id in item.classes:
            groups.setdefault(id, set()).add(item.group)
    rare = {id for id, names in groups.items() if len(names) < FEWEST_PARTS}
    return rare if len(rare) < len(groups) else set()


def _fill_small_splits(items: list[Item], target_shares: dict[Split, float], kept: set[str]) -> None:
    """Move training groups to a split that got much less than its share of the images.

    That happens if there are few groups and each shows several strata, since it counts for its rarest stratum only.
    kept: keys of images that stay where they are. A group that training needs for a class or a verdict stays, too.
    """
    rare, fixed = rare_classes(items), {item.group for item in items if item.key in kept}
    examples = [item for item in informative_items(items) if item.split == "train" or item.split in target_shares]
    groups: dict[str, list[Item]] = {}
    for item in examples:
        if item.split == "train":
            groups.setdefault(item.group, []).append(item)
    contents = {name: {kind for item in members for kind in _kinds(item)} for name, members in groups.items()}
    showing = Counter(kind for kinds in contents.values() for kind in kinds)
    for split, share in target_shares.items():
        due, count = share * len(examples), sum(item.split == split for item in examples)
        for name in sorted(groups.keys() - fixed, key=natural_key, reverse=True):
            if not 0 < count < _LEAST * due:
                break
            needed = any(showing[kind] < FEWEST_PARTS or kind in rare for kind in contents[name])
            if not needed and count + len(groups[name]) <= due / _LEAST:
                for item in items:
                    if item.group == name:
                        item.split = split
                showing.subtract(contents[name])
                count += len(groups.pop(name))


def border_images(project: Project, items: list[Item], kept: set[str]) -> set[str]:
    """Return the keys of training images to leave out because their numbers adjoin those of held-out images.

    With the automatic grouping, series of numbers are cut into parts, so images at both sides of a cut may show the
    same part, or overlap. A gap separates them (block cross-validation with a buffer, Roberts et al. 2017), as wide as
    a twentieth of the training images allows. No image is left out of which training has few.

    items: with splits. kept: keys of images that stay in training.
    """
    if project.file.grouping.rule != "auto":
        return set()
    series: dict[tuple[str, str], list[tuple[int, Item]]] = {}
    for item in items:
        name, number = split_number(item.key)
        if number is not None:
            series.setdefault((item.key.rpartition("/")[0], name), []).append((number, item))
    training = [item for item in items if item.split == "train"]
    showing = Counter(kind for item in training for kind in _kinds(item))
    distances: dict[str, int] = {}
    for members in series.values():
        held_out = np.array([number for number, item in members if item.split != "train"])
        for number, item in members if held_out.size else ():
            if item.split == "train" and item.key not in kept and min(showing[kind] for kind in _kinds(item)) >= _MANY:
                distances[item.key] = int(np.abs(held_out - number).min())
    for gap in _GAPS:
        keys = {key for key, distance in distances.items() if distance <= gap}
        if len(keys) <= _GAP_COST * len(training):
            return keys
    return set()


def _kinds(item: Item) -> list[object]:
    return [*item.classes] or [item.verdict]


def _ensure_labeled_images(items: list[Item], trained_keys: set[str], splits: list[Split]) -> None:
    """Ensure that training and, if requested, validation contain an image with a label: move one group if necessary."""
    labeled = [item for item in items if item.classes or item.verdict is not None]
    for split, other in (("train", "val"), ("val", "train")):
        if split not in splits or any(item.split == split for item in labeled):
            continue
        groups = Counter(item.group for item in labeled if item.split == other)
        movable = groups.keys() - (
            {item.group for item in items if item.key in trained_keys} if split == "val" else set()
        )
        if len(groups) > 1 and movable:
            chosen = min(movable, key=lambda name: (groups[name], natural_key(name)))
            for item in items:
                if item.group == chosen:
                    item.split = split  # type: ignore[assignment]


def divide_parts(items: Sequence[Item], keys: Sequence[str]) -> list[int] | None:
    """Return 0 or 1 for each key; parts are not divided, and each half has labels. None if that is impossible."""
    of_key = {item.key: item for item in items}
    parts: dict[str, list[Item]] = {}
    for key in keys:
        parts.setdefault(of_key[key].part, []).append(of_key[key])
    # Parts with and without defects are divided separately.
    labeled = [name for name, members in parts.items() if any(item.classes for item in members)]
    others = [name for name in parts if name not in set(labeled)]
    if len(labeled) < 2 and any(item.mask_hash for item in items):
        return None
    side = {name: index % 2 for names in (labeled, others) for index, name in enumerate(sorted(names))}
    return [side[of_key[key].part] for key in keys]


def stratified_order(items: Sequence[Item]) -> list[Item]:
    """Return a fixed order whose every prefix is representative: classes alternate, the images of each by hash."""
    strata: dict[object, list[Item]] = {}
    for item in sorted(items, key=lambda item: zlib.crc32(item.key.encode("utf-8", "surrogatepass"))):
        stratum = item.verdict if not (item.classes or item.mask_hash) else tuple(item.classes[:1])
        strata.setdefault(stratum, []).append(item)
    queues = sorted(strata.values(), key=lambda queue: (not queue[0].classes, len(queue), queue[0].key))
    order = []
    for index in range(max(map(len, queues), default=0)):
        order += [queue[index] for queue in queues if index < len(queue)]
    return order
