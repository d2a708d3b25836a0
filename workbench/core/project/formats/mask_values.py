"""Meaning of the values in foreign masks: ids, one class in black and white, or colors.

An anti-aliased edge resembles ids and an empty mask fits any meaning, so the meaning comes from all masks. Each file is
then judged by itself: one that does not fit it is refused, and never becomes a label without defects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import ImportOptions, UnreadableLabel
from workbench.core.project.formats.label_lists import Color, LabelList
from workbench.core.project.formats.mask_content import GRAINY, MANY_COLORS, MANY_GRAYS, MaskContent
from workbench.core.project.formats.mask_files import RawMask, codes_of
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED

OWN_NOT_LABELED = (64, 64, 64)  # palette entry by which the workbench's own masks mark 255
MOST_IDS = 40  # more ids without names are numbers of objects


@dataclass(frozen=True)
class ValueMeaning:
    """Conversion of the values of a set to ids.

    gray: content of gray masks. listed: names beside the masks. known: id -> name of the project's classes. colors: of
    color masks without a list, ascending; the position is the id. one_each: no file has several classes.
    largest: largest gray value of the set. unlisted: value that no name explains -> number of files.
    """

    gray: Literal["one class", "ids"]
    options: ImportOptions
    listed: LabelList | None
    known: dict[int, str]
    colors: tuple[int, ...] = ()
    one_each: bool = True
    largest: int = 0
    unlisted: Counter[int] = field(default_factory=Counter)

    @property
    def single(self) -> bool:
        """True if all values except 0 are the one class, which the user named."""
        return self.options.class_name is not None

    @property
    def is_one_class(self) -> bool:
        """True if each mask shows one class."""
        return self.single or (self.gray == "one class" and self.one_each)

    @property
    def threshold(self) -> int:
        """Gray value from which on a pixel is a defect, in black and white masks."""
        return self.options.threshold or (128 if self.largest < 256 else (self.largest + 1) // 2)

    def apply(self, raw: RawMask, content: MaskContent, single_name: str) -> tuple[np.ndarray, dict[int, str]]:
        """Return ids, uint8 (H, W), and the names of those present. content: of the same file.

        Raises UnreadableLabel.
        """
        explicit, lossy = self.options.threshold is not None, content.lossy
        if lossy and not explicit and (raw.kind != "grey" or not content.two_levels):
            raise UnreadableLabel(Message("import.lossy_mask"))
        if raw.kind == "colour" or (raw.kind == "grey" and self._are_colors(content)):
            return self._color(raw, single_name)
        black_and_white = raw.kind == "grey" and (lossy or self.gray == "one class") and int(raw.values.max()) > 1
        if black_and_white and not explicit and not self.is_one_class:
            raise UnreadableLabel(Message("import.white_among_ids"))
        if raw.kind == "bits":
            return self._region(raw.values > 0, single_name)
        if explicit or (raw.kind == "grey" and (self.gray == "one class" or lossy)):
            return self._one_class(raw, content, single_name)
        if self.single:
            special = raw.values >= DONT_CARE if raw.kind == "palette" else np.zeros(raw.values.shape, bool)
            mask, names = self._region((raw.values > 0) & ~special, single_name)
            mask[special] = DONT_CARE
            return mask, names
        return self._ids(raw, content)

    def _are_colors(self, content: MaskContent) -> bool:
        """Return True if the gray values are colors of the set: those of a file without any other color."""
        colors = self.listed.colors if self.listed is not None and self.listed.colors else map(_split, self.colors)
        known = {color[0] for color in colors if len(set(color)) == 1} | {0}
        return len(known) > 1 and known.issuperset(content.values.tolist())

    def _region(self, region: np.ndarray, name: str) -> tuple[np.ndarray, dict[int, str]]:
        mask = (~region if self.options.invert else region).astype(np.uint8)
        return mask, {1: name} if mask.any() else {}

    def _one_class(self, raw: RawMask, content: MaskContent, name: str) -> tuple[np.ndarray, dict[int, str]]:
        explicit, values = self.options.threshold is not None, raw.values
        largest = int(values.max()) if values.size else 0
        if raw.kind == "palette" or (largest <= 1 and not content.lossy):
            return self._region(values > 0, name)
        if not explicit and (content.grays > MANY_GRAYS or content.flat < GRAINY):
            raise UnreadableLabel(Message("import.many_grays_threshold"))
        threshold = self.threshold if explicit or largest < 256 else (largest + 1) // 2
        if 1 < largest < threshold:
            raise UnreadableLabel(Message("import.threshold", n=threshold, m=largest))
        return self._region(values >= threshold, name)

    def _ids(self, raw: RawMask, content: MaskContent) -> tuple[np.ndarray, dict[int, str]]:
        used = content.values.tolist()
        ids = [id for id in used if 0 < id <= MAX_CLASS_ID]
        if self.listed is not None and self.listed.values:
            return self._listed_values(raw, used)
        out_of_range = [id for id in used if id > NOT_LABELED]
        if raw.kind == "grey" and not ids and used[-1:] == [NOT_LABELED] and not (self.listed and self.listed.ignored):
            raise UnreadableLabel(Message("import.white_among_ids"))
        if raw.kind == "grey" and len(ids) > MANY_COLORS and content.flat < GRAINY:
            raise UnreadableLabel(Message("import.many_grays"))
        if self.listed is None and not self.known and len(ids) > MOST_IDS:
            raise UnreadableLabel(Message("import.instance_numbers", n=len(ids)))
        if out_of_range:
            raise UnreadableLabel(Message("import.values_too_large", n=out_of_range[-1], m=MAX_CLASS_ID))
        names = self._names(ids)
        mask = raw.values.astype(np.uint8)
        mask[np.isin(mask, [id for id in ids if id not in names])] = DONT_CARE  # by request
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
        if self.listed is None and not self.known:
            return {id: f"class_{id}" for id in ids}
        source = self.listed.names if self.listed is not None else self.known
        unknown = ", ".join(str(id) for id in ids if id not in source)
        if unknown and self.options.unlisted == "refuse":
            if self.listed is not None:
                raise UnreadableLabel(Message("import.ids_not_listed", ids=unknown, file=self.listed.file))
            raise UnreadableLabel(Message("import.ids_not_in_project", ids=unknown))
        return {id: source.get(id, f"class_{id}") for id in ids if id in source or self.options.unlisted == "name"}

    @staticmethod
    def _is_own_palette(raw: RawMask) -> bool:
        return raw.palette is not None and len(raw.palette) == 256 and tuple(raw.palette[255]) == OWN_NOT_LABELED

    def _color(self, raw: RawMask, single_name: str) -> tuple[np.ndarray, dict[int, str]]:
        codes = codes_of(raw.values if raw.values.ndim == 3 else np.dstack([raw.values] * 3))
        used = np.unique(codes).tolist()
        if self.options.threshold is not None:
            return self._region(raw.values.reshape(*codes.shape, -1).max(axis=2) >= self.threshold, single_name)
        if self.single:
            return self._region(codes > 0, single_name)
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
    contents: Iterable[MaskContent], listed: LabelList | None, known: dict[int, str], options: ImportOptions
) -> ValueMeaning:
    """Return the meaning of a set. known: id -> name of the project's classes."""
    gray, ones = Counter[int](), Counter[int]()  # ones: of files with 0 and 1 only, which may be ids or black and white
    palette, colors = Counter[int](), set[int]()  # palette: number of files
    files: Counter[int] = Counter()  # with a gray value
    for content in contents:
        values = content.values.tolist()
        if content.lossy or content.is_photo:
            continue
        if content.kind == "colour":
            colors.update(values)
        elif content.kind == "palette":
            palette.update(values)
        elif content.kind == "grey":
            (ones if values[-1] <= 1 else gray).update(dict(zip(values, content.counts.tolist())))
            files.update(values)
    largest = max(gray or ones, default=0)
    # with a list of several classes, 1 is an id also beside white masks, which are then refused
    are_ids = bool(ones[1] and gray) and listed is not None and len(listed.names) > 1 and 1 in listed.names
    one_class = options.threshold is not None or (not are_ids and _one_class_values(gray or ones, listed, known))
    named = known if listed is None else listed.values or listed.names
    numbers = palette if one_class else palette + files
    strange = {id: count for id, count in numbers.items() if 0 < id <= MAX_CLASS_ID and id not in named and named}
    return ValueMeaning(
        "one class" if one_class else "ids",
        options,
        listed,
        known,
        tuple(sorted(colors - {0})) if len(colors) <= MANY_COLORS else (),
        one_each=not colors and sum(id > 0 for id in palette) <= 1,
        largest=largest,
        unlisted=Counter(strange if options.class_name is None else {}),
    )


def _one_class_values(counts: Counter[int], listed: LabelList | None, known: dict[int, str]) -> bool:
    """Return True if gray values are black and white (perhaps with gray edges) rather than ids."""
    values = sorted(value for value in counts if value)
    if not values:
        return True
    if listed is not None and listed.values:
        return False
    named = set(listed.names) if listed is not None else set()
    if len(values) == 1:
        # beside a list of several classes, a gray that is not white is an id that the list does not name
        return values[0] not in named and (values[0] == 1 or values[0] >= (230 if len(named) > 1 else 128))
    ids = {value for value in values if value < DONT_CARE}
    if ids and (ids <= named or ids <= known.keys()):
        return False
    white = values[-1] if values[-1] > 255 else 255
    bright = sum(counts[value] for value in values if value >= white // 2)
    # Without white, few low numbers are ids, whatever their counts are; with it, 255 may be the border of ids.
    return values[-1] >= white * 0.9 and bright > sum(counts[value] for value in values) - bright


def _split(code: int) -> Color:
    return code >> 16, (code >> 8) & 255, code & 255
