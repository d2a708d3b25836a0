"""Common data types of foreign label formats: entries with an image and a function that reads its label."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.formats.original_names import OriginalNames
from workbench.core.project.project import Project
from workbench.core.project.sources import walk
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import JsonError
from workbench.inference.text_safety import natural_key

# Names of folders, and words in names, that describe the kind of content only, not the part or the defect. They are
# in the form of `normalized_name`: without accents.
IMAGE_FOLDERS = frozenset(
    "image images img imgs picture pictures pic pics jpegimages photo photos input inputs data leftimg8bit rgb "
    "bild bilder foto fotos imagen imagenes imagem imagens immagine immagini obraz obrazy изображение изображения фото "
    "图 图片 图像 原图 照片 圖 圖片 圖像 画像 元画像 写真 이미지 사진 원본".split()
)
MASK_FOLDERS = frozenset(
    "mask masks label labels lbl lbls annotation annotations annot annots ann anns groundtruth groundtruths gt gts "
    "segmentation segmentations segmentationclass segmentationclasspng seg segs labelids maskpng maskspng gtfine "
    "gtcoarse maske masken maskenbild maskenbilder annotierung annotierungen beschriftung beschriftungen masque "
    "masques etiquette etiquettes veriteterrain mascara mascaras etiqueta etiquetas anotacion anotaciones "
    "anotacao anotacoes maschera maschere etichetta etichette annotazione annotazioni maska maski "
    "masky etykieta etykiety maskeler "
    "маска маски маскы разметка метка метки аннотация аннотации "
    "标注 标签 标记 掩膜 掩码 掩模 掩模图 掩膜图 蒙版 真值 標註 標籤 遮罩 掩碼 マスク ラベル 正解 アノテーション "
    "마스크 라벨 레이블 정답 어노테이션".split()
)
# Names of folders and verdicts of images without defects.
GOOD_NAMES = frozenset(
    "ok okay good pass passed accept accepted free normal io clean nodefect defectfree 合格 良品 正常 无缺陷 好".split()
)
MOST_SEARCHED = 50_000  # files that are searched for the images of chosen label files
# Files that list the names of classes, beside text files that number them.
NAME_FILES = ("obj.names", "_darknet.labels", "classes.txt", "predefined_classes.txt", "labels.txt", "names.txt")
_OTHER_FOLDERS = frozenset("lab labs unlabeled unlabelled unannotated unsorted unsortiert todo 未标注 未分类".split())
SPLITS = {
    "train": ("train", "training", "训练", "训练集"),
    "val": ("val", "valid", "validation", "dev", "验证", "验证集"),
    "test": ("test", "testing", "测试", "测试集"),
}
_PART = re.compile(rf"\d+(?:[\W_]\d+)*|{'|'.join(name for names in SPLITS.values() for name in reversed(names))}", re.I)
SPLIT_FOLDERS = frozenset(("trainval", *chain.from_iterable(SPLITS.values())))
TABLE_SUFFIXES = (".csv", ".tsv")
TEXT_SUFFIXES = (".json", ".xml", ".txt", *TABLE_SUFFIXES)  # of label files


class UnreadableLabel(Exception):
    """Label that cannot be imported; the text is the reason, a part of a sentence. The import continues."""


# Errors that a damaged label file, or an entry of one, may raise. A full disk is a Problem and ends the import.
FAULTS = (
    UnreadableLabel,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    MemoryError,
)


def reason(error: BaseException) -> str:
    """Return the reason why a label cannot be imported, as a part of a sentence.

    It never contains the text of an exception of Python or of a library, which nobody understands who labels images.
    """
    if isinstance(error, (UnreadableLabel, Problem)):
        return Message.of(error)
    argument = error.args[0] if error.args else None
    if isinstance(argument, Message):
        return argument
    if isinstance(error, JsonError) and not isinstance(error.__cause__, OSError):
        line = getattr(error.__context__, "lineno", None)
        return Message("import.no_json") if line is None else Message("import.no_json_line", n=line)
    if isinstance(error, KeyError) and isinstance(argument, str) and argument.isidentifier():
        return Message("import.key_missing", key=argument)
    for kinds, id in _REASONS:
        if isinstance(error, kinds):
            return Message(id)
    return Message("import.unreadable")


_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((FileNotFoundError,), "file.missing"),
    ((PermissionError,), "import.no_permission"),
    ((UnicodeError,), "import.encoding_unclear"),
    ((RecursionError,), "import.nested"),
    ((MemoryError,), "import.no_memory"),
    ((ValueError, TypeError, LookupError, ArithmeticError, AttributeError), "import.unexpected_content"),
)


@dataclass(frozen=True)
class ImportOptions:
    """Import options chosen by the user.

    class_name: name of all regions. threshold: gray values from this one on are the defect. boxes: regions made of
    boxes: "box" (all pixels), "ellipse" (inscribed) or "cut" (pixels that stand out inside the box). background: images
    without a label are images without defects. pair: answers to questions about masks, see `PairingChoice`. invert: in
    black and white masks, black is the defect. unlisted: a mask with values that no name explains is refused
    ("refuse"), they get the names class_<value> ("name"), or become ignored areas ("ignore").
    """

    class_name: str | None = None
    threshold: int | None = None
    boxes: str = "box"
    background: bool = False
    pair: str | None = None
    invert: bool = False
    unlisted: str = "refuse"


@dataclass
class ImportedLabel:
    """Label of one image. mask: uint8 (H, W) of the ids in `names`, with 0, 254 and 255 as in a project; or None.

    boxes: (id in `names`, pixels) of boxes that are not in the mask. exact: different names are different classes,
    however similar, as the workbench has exported them.
    """

    mask: np.ndarray | None = None
    names: dict[int, str] = field(default_factory=dict)
    verdict: str | None = None
    notes: list[str] = field(default_factory=list)  # remarks on this image alone, English sentences
    boxes: list[tuple[int, Rect]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)  # content that a class map cannot hold: message id -> count
    refused: list[tuple[str, str]] = field(default_factory=list)  # shapes that are left out: (name of the entry, why)
    exact: bool = False


@dataclass(frozen=True)
class Refusal:
    """Label file, or entry of one, that was found and is not imported.

    entry: its id, line or number in the file (see `entry_name`); "" for the file as a whole. images: those that it may
    belong to; () for an image that has no other label in the file, None if it may belong to any. names: `images` as
    stored in the file, until they are found. count: number of entries.
    """

    file: Path
    why: str
    entry: str = ""
    images: tuple[Path, ...] | None = None
    names: tuple[str, ...] = ()
    count: int = 1

    @property
    def place(self) -> str:
        return Message("import.place", file=str(self.file), entry=self.entry) if self.entry else str(self.file)


def entry_name(kind: str, id: object) -> str:
    """Return the name of an entry of a label file by its id or number: kind "line", id 7 gives "line 7"."""
    return Message(_ENTRIES[kind], id=str(id)[:80])


_ENTRIES = {
    "annotation": "entry.annotation",
    "flag": "entry.flag",
    "image": "entry.image",
    "item": "entry.item",
    "line": "entry.line",
    "mask": "entry.mask",
    "object": "entry.object",
    "region": "entry.region",
    "row": "entry.row",
    "segment": "entry.segment",
    "shape": "entry.shape",
    "task": "entry.task",
    "track": "entry.track",
}


@dataclass(frozen=True)
class PairingChoice:
    """Answer to a question about masks whose images, or whose role, the names and contents do not decide.

    rule: the answer as `ImportOptions.pair`. text: what it means. count: number of masks. examples: (image, mask) of
    the first ones, files or their pictures; the image is None for a file that would become an image itself.
    """

    rule: str
    text: str
    count: int
    examples: Sequence[tuple[Any, Any]] = ()


def empty_label(width: int, height: int, verdict: str | None = None) -> ImportedLabel:
    """Return the label of an image without defects."""
    return ImportedLabel(np.zeros((height, width), np.uint8), verdict=verdict)


@dataclass(frozen=True)
class ImportedEntry:
    """Label with the image that it belongs to.

    label: file of the label. image: its file, or None if it must be one of the project's. key: path of the image below
    `pictures/`. aliases: other spellings of the key, without a suffix, used to search the project's images.
    read: function from (width, height) of the image to its label, raises UnreadableLabel. embedded: returns the bytes
    of the image if the label file contains them. missing: reason why `image` is None.
    split: "train", "val" or "test", if the label assigns the image to one. size: (width, height) of the image that the
    label was drawn on, if stored. good: the label is that of an image without defects. background: the image has no
    label in the files and is taken as one without defects. count: number of entries of the label, such as shapes.
    refused: entries of it that are left out, with the reasons; "" as the entry if it is the whole label. remark: a
    sentence on the image that was chosen. origin: key of the image in the project that exported the label; "" if
    unknown. doubtful: the label may be that of another image, so it is to be checked.
    """

    label: Path
    image: Path | None
    key: str
    read: Callable[[int, int], ImportedLabel]
    aliases: tuple[str, ...] = ()
    embedded: Callable[[], bytes] | None = None
    missing: str = Message("import.image_missing")
    split: str | None = None
    size: tuple[int, int] | None = None
    good: bool = False
    background: bool = False
    count: int = 1
    refused: tuple[tuple[str, str], ...] = ()
    remark: str = ""
    origin: str = ""
    doubtful: bool = False

    def place(self, several: bool) -> str:
        """Return the place of the label in a report: its file, or of `several` labels in a file that of the image."""
        if not several:
            return str(self.label)
        return self.key if self.image is not None or not self.aliases else self.aliases[0]


@dataclass
class ImportedLabels:
    """All labels that one format found under a path. keep_ids: a new class takes the id used in its label.

    refused: what was found and is not imported. unread: image -> label file that no reader understands. pairings:
    the possible answers to questions about masks, of which none was given. unlisted: value of masks that no name
    explains -> number of masks.
    """

    entries: list[ImportedEntry] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    unread: dict[Path, Path] = field(default_factory=dict)
    pairings: list[PairingChoice] = field(default_factory=list)
    unlisted: Counter[int] = field(default_factory=Counter)
    unlabeled: list[tuple[Path, str]] = field(default_factory=list)  # images without a label: (file, key)
    mask_files: list[Path] = field(default_factory=list)  # labels that are themselves image files
    other_masks: list[Path] = field(default_factory=list)  # masks beside the labels, which are not imported
    keep_ids: bool = False
    notes: list[str] = field(default_factory=list)

    def read_files(self) -> set[Path]:
        """Return the label files and masks that were read, or refused with a reason."""
        return {*(entry.label for entry in self.entries), *(one.file for one in self.refused), *self.mask_files}


@dataclass(frozen=True)
class FileTree:
    """Files under the imported path, as naturally sorted POSIX paths below `root`. Chosen files are the first.

    chosen: the files, if they were chosen one by one: other images are imported only if they have a label.
    encoding: that of text files that do not state theirs; None to guess it. guesses: text file -> (guessed encoding,
    examples of its texts), filled by `text_files.read_text`. memo: what was found out about the image files.
    """

    root: Path
    files: tuple[str, ...]
    chosen: frozenset[Path] | None = None
    encoding: str | None = None
    guesses: dict[Path, tuple[str, tuple[str, ...]]] = field(default_factory=dict, compare=False, hash=False)
    memo: dict[str, Any] = field(default_factory=dict, compare=False, hash=False, repr=False)

    @cached_property
    def names(self) -> frozenset[str]:
        """The files, for lookups."""
        return frozenset(self.files)

    @classmethod
    def of(cls, path: Path, project: Project | None = None) -> FileTree:
        """Return the tree of all regular files below `path` that are not hidden, without the project itself."""
        root = path.absolute()
        paths = [relative for relative, _ in walk(root, _enters(project))]
        return cls(root, tuple(sorted(paths, key=natural_key)))

    @classmethod
    def of_paths(cls, paths: Sequence[Path], project: Project | None = None) -> FileTree:
        """Return the tree of chosen files and folders, and of the images beside the label files among them.

        Images are also searched below the parent of a folder of labels. Files with the names of classes belong to the
        tree. The search ends after `MOST_SEARCHED` files, the nearest first.
        """
        folders = [path.absolute() for path in paths if path.is_dir()]
        files = [path.absolute() for path in paths if not path.is_dir()]
        enter = _enters(project)
        chosen = [*files, *(folder / relative for folder in folders for relative, _ in walk(folder, enter))]
        labels = [path for path in files if suffix_of(path.name) not in IMAGE_SUFFIXES]
        beside = dict.fromkeys(map(_above_masks, labels))
        root = Path(os.path.commonpath([*(path.parent for path in files), *folders, *beside]))
        names = NAME_FILES if any(suffix_of(path.name) == ".txt" for path in labels) else ()
        found = [
            folder / relative
            for folder in beside
            for relative, _ in islice(walk(folder, enter), MOST_SEARCHED)
            if suffix_of(relative) in (*IMAGE_SUFFIXES, ".yaml", ".yml", ".names", ".labels")
            or PurePosixPath(relative).name.casefold() in names
        ]
        first = sorted((path.relative_to(root).as_posix() for path in set(labels)), key=natural_key)
        others = {path.relative_to(root).as_posix() for path in {*chosen, *found}}.difference(first)
        return cls(root, (*first, *sorted(others, key=natural_key)), frozenset(chosen))

    @cached_property
    def originals(self) -> OriginalNames:
        """Original names of labels that the workbench has exported."""
        return OriginalNames(self.root, self.files)

    @cached_property
    def image_stems(self) -> frozenset[str]:
        """Names of the images without folder and suffix."""
        return frozenset(PurePosixPath(name).stem for name in self.images)

    def chosen_part(self) -> FileTree:
        """Return the tree without the images that lie beside chosen files; all of it if no files were chosen."""
        if self.chosen is None:
            return self
        names = tuple(name for name in self.files if self.path(name) in self.chosen)
        return replace(self, files=names)

    def path(self, relative: str) -> Path:
        return self.root / relative

    def shown(self, path: Path) -> str:
        """Return the path of a file for a message: below the root, if it is there."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def with_suffix(self, *suffixes: str) -> list[str]:
        return [name for name, suffix in zip(self.files, self._suffixes) if suffix in suffixes]

    @property
    def images(self) -> list[str]:
        return self.with_suffix(*IMAGE_SUFFIXES)

    @cached_property
    def _suffixes(self) -> tuple[str, ...]:
        return tuple(suffix_of(name) for name in self.files)


def _enters(project: Project | None) -> Callable[[os.DirEntry[str]], bool]:
    """Return a function that is False for folders without labels of other tools: the project itself and resources."""
    project_root = None if project is None else os.path.realpath(project.root)

    def enter(entry: os.DirEntry[str]) -> bool:
        return entry.name != "__MACOSX" and (project_root is None or os.path.realpath(entry.path) != project_root)

    return enter


def _above_masks(file: Path) -> Path:
    """Return the folder of a label file, or the one above folders such as "labels" and "labels/train"."""
    folder = file.parent
    while folder != folder.parent:
        of_split = folder.name.casefold() in SPLIT_FOLDERS and folder.parent.name.casefold() in MASK_FOLDERS
        if not of_split and folder.name.casefold() not in MASK_FOLDERS:
            break
        folder = folder.parent
    return folder


def comparable(name: str) -> str:
    """Return a path for comparison: without differences of case and of composed (NFC) and decomposed (NFD) letters."""
    return unicodedata.normalize("NFC", name).casefold()


def suffix_of(relative: str) -> str:
    return PurePosixPath(relative).suffix.lower()


def without_suffix(relative: str) -> str:
    stem, _ = os.path.splitext(relative)
    return stem


def normalized_name(name: str) -> str:
    """Return a folder's name in a form for comparison: "Ground_Truth" becomes "groundtruth", "Máscaras" "mascaras"."""
    return re.sub(r"[\W_]+", "", without_accents(name)).casefold()


def without_accents(name: str) -> str:
    """Return a name in the composed form of Unicode, Latin and Cyrillic letters without their accents."""
    decomposed = unicodedata.normalize("NFD", name)
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", decomposed))


def is_good(verdict: str) -> bool:
    """Return True for a verdict or a folder name of images without defects."""
    return normalized_name(verdict) in GOOD_NAMES


# Words of a folder that names where images come from or what they show, and no verdict or class.
_ORIGINS = frozenset(
    "cam camera lot batch charge part piece panel sample serial line station shift tray view left right top bottom "
    "front back rear side links rechts oben unten vorne hinten 左 右 上 下 正面 背面 侧面".split()
)


def is_in_good_folder(image: str) -> bool:
    """Return True if the deepest folder that may name a verdict or class is one of good images: "OK/S0009/1.png".

    A number names none, nor with one or two letters or with a word of origin, such as "cam 1"; "scratch2" may name one.
    """
    for folder in reversed(PurePosixPath(image).parts[:-1]):
        if is_good(folder):
            return True
        words = re.findall(r"[^\W\d_]{3,}", folder.casefold())
        numbered = re.search(r"\d", folder) and _ORIGINS.issuperset(words)
        if not numbered and not is_generic_name(folder):
            break
    return False


def series_of(name: str) -> str:
    """Return what the names of parts have in common: "lot#" for "lot1" and "lot2", "#crop" for "traincrop"."""
    return _PART.sub("#", name)


def are_parts(folders: Iterable[str]) -> bool:
    """Return True for names that are no verdicts: they differ in numbers or data splits only, or are those of views."""
    names = set(folders)
    views = all(_ORIGINS.issuperset(re.findall(r"[^\W\d_]+", name.casefold())) for name in names)
    return len(names) > 1 and (views or len(set(map(series_of, names))) == 1)


def is_generic_name(folder: str) -> bool:
    """Return True for names that identify no class, such as "images", "Validation_Images", "train"."""
    words = [word.casefold() for word in re.split(r"[\W_]+", folder) if word]
    generic = IMAGE_FOLDERS | MASK_FOLDERS | SPLIT_FOLDERS | _OTHER_FOLDERS
    return normalized_name(folder) in generic or (bool(words) and all(word in generic for word in words))


def folder_levels(relatives: Sequence[str]) -> list[dict[str, str]]:
    """Return path -> folder of each level of some paths, without the folders whose names identify no class."""
    levels: dict[int, dict[str, str]] = {}
    for relative in relatives:  # without the folders of data splits, which only some images may be in
        parts = [part for part in PurePosixPath(relative).parts[:-1] if normalized_name(part) not in SPLIT_FOLDERS]
        for level, part in enumerate(parts):
            if not is_generic_name(part):
                levels.setdefault(level, {})[relative] = part
    return [levels[level] for level in sorted(levels)]


def distinctive_folders(relatives: Sequence[str], *, min_names: int = 2) -> dict[str, str]:
    """Return the folder that distinguishes each path, at a level with `min_names` distinctive names, or {}.

    It is the first level with a name of good images, or else with other names than those of parts, or else any.
    "MT_Crack/Imgs/7.jpg" and "MT_Fray/Imgs/9.jpg" give MT_Crack and MT_Fray, "train/OK/1.png" gives OK.
    """
    levels = [found for found in folder_levels(relatives) if len(set(found.values())) >= min_names]
    return next(
        chain(
            (found for found in levels if any(map(is_good, found.values()))),
            (found for found in levels if not are_parts(found.values())),
            levels,
        ),
        {},
    )
