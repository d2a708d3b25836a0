"""Meaning of the values in foreign masks (ids, one class in black and white, or colors), decided for the whole set.

A single file can be misleading (an anti-aliased edge resembles ids, an empty mask fits any meaning), so all masks are
analyzed first and the same meaning is then applied to each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel
from workbench.core.project.formats.label_lists import Color, LabelList
from workbench.core.project.formats.mask_files import LOSSY, RawMask, codes_of, read_raw
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED

OWN_NOT_LABELED = (64, 64, 64)  # palette entry by which the workbench's own masks mark 255
MANY_COLORS = 64  # a color mask with more colors is an ordinary image
MOST_IDS = 40  # more ids without names are numbers of objects


@dataclass
class ValueStatistics:
    """Values of all masks of a set. gray: int64 (65536,) counts of gray values; palette: counts of indices."""

    gray: np.ndarray = field(default_factory=lambda: np.zeros(65536, np.int64))
    palette: np.ndarray = field(default_factory=lambda: np.zeros(256, np.int64))
    colors: set[int] = field(default_factory=set)
    too_large: int = 0  # the largest value above 65535
    lossy: bool = False  # some files are compressed with losses, which changes ids

    @property
    def only_black_and_white(self) -> bool:
        return not self.colors and int(np.count_nonzero(self.palette[1:])) <= 1

    def add(self, raw: RawMask) -> None:
        if raw.kind == "grey":
            values = raw.values
            if values.size and values.dtype.itemsize > 2:
                largest = int(values.max())
                self.too_large = max(self.too_large, largest if largest > 65535 else 0)
                values = np.minimum(values, 65535)
            self.gray += _counts(values, 65536)
        elif raw.kind == "palette":
            self.palette += _counts(raw.values, 256)
        elif raw.kind == "colour" and len(self.colors) <= MANY_COLORS:
            self.colors.update(np.unique(codes_of(raw.values)).tolist())


def _counts(values: np.ndarray, bins: int) -> np.ndarray:
    """Return the count of each value, int64 (bins,).

    Counts groups of rows, because NumPy converts the values to eight bytes each.
    """
    counts = np.zeros(bins, np.int64)
    rows = max(1, (1 << 20) // max(1, values.shape[1]))
    for top in range(0, values.shape[0], rows):
        counts += np.bincount(values[top : top + rows].ravel(), minlength=bins)
    return counts


def collect_values(masks: Iterable[tuple[Path, tuple[int, int] | None]]) -> ValueStatistics:
    """Analyze all masks, given with their expected size if known.

    Unreadable files are skipped here and reported when they are imported.
    """
    statistics = ValueStatistics()
    for path, size in masks:
        try:
            statistics.add(read_raw(path, size))
            statistics.lossy = statistics.lossy or path.suffix.lower() in LOSSY
        except UnreadableLabel:
            continue
    return statistics


@dataclass(frozen=True)
class ValueMeaning:
    """Conversion of the values of a set to ids.

    gray: content of gray masks. known: id -> name of the project's classes.
    """

    gray: Literal["one class", "ids"]
    threshold: int
    listed: LabelList | None
    known: dict[int, str]
    colors: tuple[int, ...] = ()  # of color masks without a list, ascending; the position is the id
    single: bool = False  # all values except 0 are the one class
    explicit: bool = False  # the threshold was given by the user
    largest: int = 0  # largest gray value in the set

    def apply(self, raw: RawMask, single_name: str) -> tuple[np.ndarray, dict[int, str]]:
        """Return ids, uint8 (H, W), and the names of those present. Raises UnreadableLabel."""
        if raw.kind == "colour":
            return self._color(raw, single_name)
        if raw.kind == "bits":
            return _one_class(raw.values > 0, single_name)
        if self.explicit or (raw.kind == "grey" and self.gray == "one class"):
            return self._one_class(raw, single_name)
        if self.single:
            special = raw.values >= DONT_CARE if raw.kind == "palette" else np.zeros(raw.values.shape, bool)
            mask, names = _one_class((raw.values > 0) & ~special, single_name)
            mask[special] = DONT_CARE
            return mask, names
        return self._ids(raw)

    def _one_class(self, raw: RawMask, name: str) -> tuple[np.ndarray, dict[int, str]]:
        if raw.kind == "palette" or self.largest == 1:
            return _one_class(raw.values > 0, name)
        if self.explicit and self.largest < self.threshold and raw.values.any():
            raise UnreadableLabel(Message("import.threshold", n=self.threshold, m=self.largest))
        if not self.explicit and _is_photograph(raw.values):
            raise UnreadableLabel(Message("import.many_grays_threshold"))
        return _one_class(raw.values >= self.threshold, name)

    def _ids(self, raw: RawMask) -> tuple[np.ndarray, dict[int, str]]:
        used = np.unique(raw.values).tolist()
        ids = [id for id in used if 0 < id <= MAX_CLASS_ID]
        if self.listed is not None and self.listed.values:
            return self._listed_values(raw, used)
        out_of_range = [id for id in used if id > NOT_LABELED]
        if raw.kind == "grey" and len(ids) > MANY_COLORS and _is_grainy(raw.values):
            raise UnreadableLabel(Message("import.many_grays"))
        if self.listed is None and not self.known and len(ids) > MOST_IDS:
            raise UnreadableLabel(Message("import.instance_numbers", n=len(ids)))
        if out_of_range:
            raise UnreadableLabel(Message("import.values_too_large", n=out_of_range[-1], m=MAX_CLASS_ID))
        names = self._names(ids)
        mask = raw.values.astype(np.uint8)
        if not self._is_own_palette(raw):
            mask[mask == NOT_LABELED] = DONT_CARE  # 255 means "void" in masks of other tools
        if self.listed is not None:
            for value in self.listed.ignored:
                mask[raw.values == value] = DONT_CARE
        return mask, names

    def _listed_values(self, raw: RawMask, used: list[int]) -> tuple[np.ndarray, dict[int, str]]:
        """Return the ids of gray values that a list assigns to classes."""
        assert self.listed is not None
        table = self.listed.values | {0: self.listed.values.get(0, 0)}
        unknown = ", ".join(str(value) for value in used if value not in table)
        if unknown:
            raise UnreadableLabel(Message("import.ids_not_listed", ids=unknown, file=self.listed.file))
        mask = np.zeros(raw.values.shape, np.uint8)
        for value in used:
            mask[raw.values == value] = table[value]
        return mask, {id: self.listed.names[id] for value in used if (id := table[value])}

    def _names(self, ids: list[int]) -> dict[int, str]:
        source = self.listed.names if self.listed is not None else self.known
        if self.listed is None and not self.known:
            return {id: f"class_{id}" for id in ids}
        unknown = ", ".join(str(id) for id in ids if id not in source)
        if unknown and self.listed is not None:
            raise UnreadableLabel(Message("import.ids_not_listed", ids=unknown, file=self.listed.file))
        if unknown:
            raise UnreadableLabel(Message("import.ids_not_in_project", ids=unknown))
        return {id: source[id] for id in ids}

    @staticmethod
    def _is_own_palette(raw: RawMask) -> bool:
        return raw.palette is not None and len(raw.palette) == 256 and tuple(raw.palette[255]) == OWN_NOT_LABELED

    def _color(self, raw: RawMask, single_name: str) -> tuple[np.ndarray, dict[int, str]]:
        codes = codes_of(raw.values)
        used = np.unique(codes).tolist()
        if self.single or self.explicit:
            return _one_class(codes > 0, single_name)
        table: dict[Color, int] = {(0, 0, 0): 0}
        names: dict[int, str] = {}
        if self.listed is not None and self.listed.colors:
            table |= self.listed.colors
            names = self.listed.names
        else:
            if len(used) > MANY_COLORS or not self.colors:
                raise UnreadableLabel(Message("import.many_colors", n=MANY_COLORS))
            for position, code in enumerate(self.colors, 1):
                table[_split(code)] = position
                names[position] = f"#{code:06x}"
        mask = np.zeros(codes.shape, np.uint8)
        used_names: dict[int, str] = {}
        for code in used:
            id = table.get(_split(code))
            if id is None:
                color = ", ".join(map(str, _split(code)))
                if self.listed is None:
                    raise UnreadableLabel(Message("import.unused_color", color=color))
                raise UnreadableLabel(Message("import.unlisted_color", color=color, file=self.listed.file))
            mask[codes == code] = DONT_CARE if id == NOT_LABELED else id
            if 0 < id <= MAX_CLASS_ID:
                used_names[id] = names.get(id, f"class_{id}")
        return mask, used_names


def decide(
    statistics: ValueStatistics, listed: LabelList | None, known: dict[int, str], threshold: int | None, single: bool
) -> ValueMeaning:
    """Return the meaning of a set.

    single: the user named one class for all. known: id -> name of the project's classes.
    """
    values = np.flatnonzero(statistics.gray)
    largest = max(int(values[-1]) if values.size else 0, statistics.too_large)
    default_threshold = 32768 if largest > 255 else 128
    gray: Literal["one class", "ids"] = "one class"
    if threshold is None and not statistics.lossy and not _one_class_values(statistics.gray, listed, known):
        gray = "ids"
    shades = sorted(code for code in statistics.colors if code)
    colors = tuple(shades) if len(statistics.colors) <= MANY_COLORS else ()
    return ValueMeaning(
        gray,
        default_threshold if threshold is None else threshold,
        listed,
        known,
        colors,
        single,
        threshold is not None,
        largest,
    )


def _one_class_values(counts: np.ndarray, listed: LabelList | None, known: dict[int, str]) -> bool:
    """Return True if gray values are black and white (perhaps with gray edges) rather than ids."""
    values = np.flatnonzero(counts)
    values = values[values > 0]
    if not values.size:
        return True
    if listed is not None and listed.values:
        return False
    named = set(listed.names) if listed is not None and listed.names else set()
    if values.size == 1:
        value = int(values[0])
        if value in named:
            return False
        return value == 1 or value >= 128
    ids = values[values < DONT_CARE]
    if named and set(ids.tolist()) <= named:
        return False
    if known and ids.size and set(ids.tolist()) <= known.keys():
        return False
    white = 65535 if values[-1] > 255 else 255
    bright = counts[white // 2 :].sum()
    dark = counts[1 : white // 2].sum()
    if values[-1] < white * 0.9:
        # without white, few low numbers are ids, regardless of their counts
        return False
    if values.size <= 8 and ids.size and values[-1] in (254, 255) and ids[-1] <= 63:
        return bool(bright > dark)  # 255 is the void border of ids, or the defect with a few gray edges
    return bool(bright > dark)


def _is_photograph(values: np.ndarray) -> bool:
    """Return True for a photograph: many pixels between black and white, which a black and white mask has few of."""
    white = 65535 if values.dtype.itemsize > 1 and values.size and values.max() > 255 else 255
    gray_pixels = int(np.count_nonzero((values > white * 0.1) & (values < white * 0.9)))
    return gray_pixels > 0.25 * values.size or _is_grainy(values)


def _is_grainy(values: np.ndarray) -> bool:
    """Return True for a photograph: in a mask nearly every pixel equals its neighbor, in a photograph few do."""
    return values.shape[1] > 1 and float((values[:, 1:] == values[:, :-1]).mean()) < 0.6


def _one_class(region: np.ndarray, name: str) -> tuple[np.ndarray, dict[int, str]]:
    mask = region.astype(np.uint8)
    return mask, {1: name} if region.any() else {}


def _split(code: int) -> Color:
    return code >> 16, (code >> 8) & 255, code & 255
