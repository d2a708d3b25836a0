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
from PIL import Image

from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel
from workbench.core.project.formats.label_lists import Color, LabelList
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED
from workbench.inference.io import size_limits
from workbench.inference.io.regular_files import open_regular

OWN_NOT_LABELED = (64, 64, 64)  # palette entry by which the workbench's own masks mark 255
MANY_COLORS = 64  # a color mask with more colors is an ordinary image
_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", "I;16B", "I;16L", "I")
_FORMATS = ("PNG", "TIFF", "BMP", "DIB", "GIF", "JPEG", "JPEG2000", "PPM", "WEBP")

Image.MAX_IMAGE_PIXELS = None  # the limits of `inference.io.size_limits` are checked instead


@dataclass(frozen=True)
class RawMask:
    """Mask file as stored. values: (H, W) integers >= 0, or uint8 (H, W, 3) for a color mask."""

    kind: Literal["bits", "palette", "grey", "colour"]
    values: np.ndarray
    palette: np.ndarray | None = None  # uint8 (n, 3)

    @property
    def size(self) -> tuple[int, int]:
        return self.values.shape[1], self.values.shape[0]


def read_raw(path: Path, size: tuple[int, int] | None = None) -> RawMask:
    """Read a mask whose (width, height) must be `size`; the header is compared before decoding. Raises Unreadable."""
    try:
        with open_regular(path) as opened, Image.open(opened, formats=_FORMATS) as file:
            mode, palette = file.mode, None
            width, height = file.size
            if size is not None and (width, height) != tuple(size):
                raise UnreadableLabel(Message("import.other_size", w=width, h=height, width=size[0], height=size[1]))
            channels, depth = len(file.getbands()), 4 if mode == "I" else 2 if mode.startswith("I;") else 1
            too_large = size_limits.size_problem(width, height, width * height * channels, depth)
            if too_large:
                raise UnreadableLabel(too_large)
            if mode not in _MODES:
                raise UnreadableLabel(Message("import.mode", mode=mode))
            if mode in ("LA", "PA", "RGBA"):
                file = file.convert("L" if mode == "LA" else "RGB")
            values = np.array(file)
            if file.mode == "P":
                palette = np.array(file.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
            depth = _bit_depth(path) if file.mode == "L" else 8
    except UnreadableLabel:
        raise
    except FileNotFoundError:
        raise UnreadableLabel(Message("file.missing")) from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        raise UnreadableLabel(Message("import.damaged", why=str(error) or type(error).__name__)) from None
    if values.dtype == np.bool_:
        return RawMask("bits", values.astype(np.uint8))
    if palette is not None:
        return _from_palette(values, palette)
    if values.ndim == 3:
        return _from_color(values)
    if values.dtype.kind not in "ui" or (values.size and int(values.min()) < 0):
        raise UnreadableLabel(Message("import.values"))
    if depth in (2, 4):
        values = values // (85 if depth == 2 else 17)  # the decoder scales two and four bits to 0..255
    return RawMask("grey", values)


def _bit_depth(path: Path) -> int:
    with open_regular(path) as file:
        head = file.read(26)
    return head[24] if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) == 26 else 8


def _from_palette(values: np.ndarray, palette: np.ndarray) -> RawMask:
    used = np.flatnonzero(np.bincount(values.ravel(), minlength=256))
    if used.size and used[-1] >= len(palette):
        return RawMask("palette", values, palette)
    colors = palette[used]
    if (colors == colors[:, :1]).all() and {int(c) for c in colors[:, 0]} <= {0, 255}:
        # black and white with a palette, whose order depends on the writer
        return RawMask("grey", palette[:, 0][values])
    return RawMask("palette", values, palette)


def _from_color(values: np.ndarray) -> RawMask:
    values = np.ascontiguousarray(values[:, :, :3])
    if (values[:, :, 0] == values[:, :, 1]).all() and (values[:, :, 1] == values[:, :, 2]).all():
        return RawMask("grey", values[:, :, 0].copy())
    return RawMask("colour", values)


def codes_of(values: np.ndarray) -> np.ndarray:
    """Return colors (H, W, 3) as numbers 0xRRGGBB, int32 (H, W)."""
    channels = values.astype(np.int32)
    return (channels[:, :, 0] << 16) | (channels[:, :, 1] << 8) | channels[:, :, 2]


@dataclass
class ValueStatistics:
    """Values of all masks of a set. grey: int64 (65536,) counts of gray values; palette: counts of indices."""

    gray: np.ndarray = field(default_factory=lambda: np.zeros(65536, np.int64))
    palette: np.ndarray = field(default_factory=lambda: np.zeros(256, np.int64))
    colors: set[int] = field(default_factory=set)
    too_large: int = 0  # the largest value above 65535

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
        except UnreadableLabel:
            continue
    return statistics


@dataclass(frozen=True)
class ValueMeaning:
    """Conversion of the values of a set to ids.

    grey: content of gray masks. known: id -> name of the project's classes.
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
        """Return ids, uint8 (H, W), and the names of those present. Raises Unreadable."""
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
        out_of_range = [id for id in used if id > NOT_LABELED]
        if raw.kind == "grey" and len(ids) > MANY_COLORS and _is_grainy(raw.values):
            raise UnreadableLabel(Message("import.many_grays"))
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
    if threshold is None and not _one_class_values(statistics.gray, listed, known):
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
