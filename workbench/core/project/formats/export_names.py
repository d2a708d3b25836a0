"""Names of classes, verdicts and images in an export, where the format cannot hold those of the project."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from workbench.core.project.formats.base import comparable, is_good, suffix_of, without_suffix
from workbench.core.project.formats.mask_values import parse_text
from workbench.core.project.formats.shape_labels import BACKGROUND, IGNORE
from workbench.core.text_patterns import numbered_names

Accepts = Callable[[str], bool]

_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
_NOT_IN_FILES = re.compile(r'[\\/:*?"<>|]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # names of devices of Windows
_LONGEST = 150  # bytes of a file name made here
_LONGEST_FILE = 200  # bytes, so that "_mask.png" can follow


def is_one_line(name: str) -> bool:
    """Return True for a name that XML and lists with one name per line can hold."""
    return _TEXT.fullmatch(name) is not None


def is_label(name: str) -> bool:
    """Return True for the name of a class that label files hold: labelme gives two names another meaning."""
    return is_one_line(name) and name == name.strip() and name not in (IGNORE, BACKGROUND)


def is_cell(name: str) -> bool:
    return is_one_line(name) and name == name.strip()


def is_path_cell(name: str) -> bool:
    return is_path(name) and is_cell(name)


def is_path(name: str) -> bool:
    return is_one_line(name) and "\\" not in name


def is_path_without_blanks(name: str) -> bool:
    return is_path_cell(name) and len(name.split()) == 1


def is_file_name(name: str) -> bool:
    """Return True for the name of a file or folder on every system."""
    return (
        is_one_line(name)
        and _NOT_IN_FILES.search(name) is None
        and name == name.strip().strip(".")
        and _RESERVED.match(name) is None
        and len(name.encode()) <= _LONGEST_FILE
    )


def is_defect_folder(name: str) -> bool:
    """Return True for the name of a folder of images with one class of defects."""
    return is_file_name(name) and not is_good(name) and name.casefold() != "combined"


def listed_as(list_of_one: str, *, unlike: str = "(?!)") -> Accepts:
    """Return the test of names for a list that is read as written. list_of_one: the list with {name} as class 1.

    unlike: regular expression of names that other programs read otherwise.
    """

    def accepts(name: str) -> bool:
        found = parse_text("labels.txt", list_of_one.replace("{name}", name))
        return is_one_line(name) and re.match(unlike, name) is None and found is not None and found.names == {1: name}

    return accepts


class ExportedNames:
    """Names in an export by name in the project, all different.

    folded: form of a name by which they must differ. originals: name in the export -> that in the project, if it is
    another.
    """

    def __init__(self, accepts: Accepts, folded: Callable[[str], str] = str) -> None:
        self._accepts, self._folded = accepts, folded
        self._names: dict[str, str] = {}
        self.originals: dict[str, str] = {}
        self._used: set[str] = set()

    def add(self, names: Iterable[str]) -> None:
        """Add names. Those that the format can hold stay as they are."""
        for name in sorted(names, key=lambda name: not self._accepts(name)):
            self[name]

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = exported = self.unused(name)
            if exported != name:
                self.originals[exported] = name
        return self._names[name]

    def unused(self, stem: str, suffix: str = "") -> str:
        """Return a name that is not used, `stem` followed by `suffix` if the format can hold it."""
        plain = _plain(stem, folders=self._accepts("a/b"))
        for name in chain((stem + suffix,), numbered_names(plain, suffix)):
            if self._accepts(name) and self._folded(name) not in self._used:
                self._used.add(self._folded(name))
                return name
        raise AssertionError("numbered names never end")

    @property
    def exported(self) -> list[str]:
        return list(self._names.values())


def _plain(name: str, *, folders: bool) -> str:
    """Return a name of letters, digits and a few signs. folders: it is a path."""
    name = unicodedata.normalize("NFC", name)
    plain = re.sub(r"[^\w./-]+" if folders else r"[^\w.-]+", "_", name).strip(".") or "_"
    if not folders:
        plain = plain.encode()[:_LONGEST].decode(errors="ignore")
    return f"_{plain}" if _RESERVED.match(plain) else plain


def image_names(keys: Sequence[str], accepts: Accepts, *, flat: bool, stems: bool) -> dict[str, str]:
    """Return the path of each image in the export, without its suffix.

    flat: all images are in one folder. stems: the paths must differ without their suffixes, by which labels are named.
    """
    plain = {key: plain_name(key, flat=flat) for key in keys}
    suffixes: dict[str, set[str]] = defaultdict(set)
    for key, name in plain.items() if stems else ():
        suffixes[comparable(name)].add(suffix_of(key))
    twins = {key for key, name in plain.items() if len(suffixes[comparable(name)]) > 1}
    names, result = ExportedNames(accepts, comparable), dict[str, str]()
    for key in sorted(keys, key=lambda key: key in twins or not accepts(plain[key])):
        stem, suffix = plain[key], os.path.splitext(key)[1]
        if key in twins:
            stem = f"{stem}_{suffix[1:]}"
        result[key] = names.unused(stem) if stems else without_suffix(names.unused(stem, suffix))
    return result


def plain_name(key: str, *, flat: bool) -> str:
    """Return the path of an image in an export, unless the format needs another one."""
    name = without_suffix(key.lstrip("@"))
    return name.replace("/", "_") if flat else name
