"""Assignment of masks to images by names and folders; file contents are used only as a last resort."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from workbench.core.project.formats.base import (
    IMAGE_FOLDERS,
    MASK_FOLDERS,
    SPLIT_FOLDERS,
    FileTree,
    normalized_name,
    suffix_of,
    without_suffix,
)
from workbench.core.project.formats.data_split import listed_pairs
from workbench.core.project.formats.mask_detection import MASK_SUFFIXES, is_likely_mask, masks_by_content
from workbench.core.project.formats.mask_files import ARRAY_SUFFIXES, LOSSY
from workbench.inference.io.image_io import IMAGE_SUFFIXES

# Colored copies and numbered instances that some tools write beside the masks.
_DERIVED = re.compile(
    r"visuali[sz]ation|segmentationobject|instances?$|instance[-_ ]?(ids?|masks?)$|overlay|preview|pseudo[-_ ]?colou?r",
    re.IGNORECASE,
)
# Further files per image of labelme's and Cityscapes' exporters, and masks that Label Studio names by tasks.
_DERIVED_NAME = re.compile(
    r"^label_viz$|_(instanceids|instancetrainids|labeltrainids|color)$|^task-\d+-annotation-\d+-by-.*-tag-",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"^(?P<stem>.+?)[-_. ]+(?:gtfine_|gtcoarse_)?"
    r"(masks?|gt|groundtruth|ground[-_]truth|labels?|labelids|seg|segmentation|annotation)$",
    re.IGNORECASE,
)
_MASK_ENDING = re.compile(r"[-_. ](masks?|gt|groundtruth|ground[-_]truth)$", re.IGNORECASE)
_PREFIX = re.compile(r"^(mask|label|gt|seg)(?P<rest>[-_. ]?\w*\d\w*)$", re.IGNORECASE)
_IMAGE_ENDING = re.compile(r"^(?P<stem>.+?)[-_. ]+(img|image|rgb|leftimg8bit|photo)$", re.IGNORECASE)


@dataclass
class Pairing:
    """Masks and images of a tree.

    pairs: mask -> image. unpaired: masks whose image is not under the path. images: those without a mask.
    """

    pairs: dict[str, str] = field(default_factory=dict)
    unpaired: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)


def pair(tree: FileTree, *, inspect_contents: bool = False) -> Pairing:
    """Pair the image files of a tree. inspect_contents: if the names are inconclusive, detect masks by content."""
    files = [f for f in tree.files if suffix_of(f) in IMAGE_SUFFIXES or suffix_of(f) in (".gif", *ARRAY_SUFFIXES)]
    known = {without_suffix(f) for f in files}
    files = [f for f in files if not _is_derived(f) and not _is_eiseg_copy(f, known)]
    xml = set(tree.with_suffix(".xml"))
    files = [f for f in files if not _is_object_of_xml(f, xml)]
    masks_only = normalized_name(tree.root.name) in MASK_FOLDERS
    in_mask_folders = [f for f in files if _mask_level(f) is not None]
    others = [f for f in files if _mask_level(f) is None]
    listed = listed_pairs(tree)
    files = [f for f in files if f not in listed]
    in_mask_folders = [f for f in in_mask_folders if f not in listed]
    others = [f for f in others if f not in listed]
    beside = [f for f in others if f not in listed.values()]
    result = Pairing(pairs=listed | (_checked_pairs(tree, beside) if in_mask_folders else _pair_in_folder(beside)))
    used = result.pairs.keys() | set(result.pairs.values())
    others = [f for f in others if f not in used]
    if masks_only and not result.pairs:
        return Pairing(unpaired=_without_copies([f for f in files if suffix_of(f) not in LOSSY]))
    others = [f for f in others if suffix_of(f) not in ARRAY_SUFFIXES]
    if in_mask_folders:
        in_mask_folders = _without_copies(in_mask_folders)
        _match(in_mask_folders, [*others, *result.pairs.values()], result, strip_mask_folder=True)
    elif inspect_contents and not result.pairs:
        masks = masks_by_content(tree, others)
        _match(masks, [f for f in others if f not in set(masks)], result, strip_mask_folder=False)
    paired = result.pairs.keys() | set(result.pairs.values()) | set(result.unpaired)
    result.images = [f for f in others if f not in paired and suffix_of(f) in IMAGE_SUFFIXES]
    return result


def is_in_mask_folder(file: str) -> bool:
    """Return True for masks and for the copies that labelme's exporter writes into folders "<image>_json"."""
    return _mask_level(file) is not None or _is_derived(file) or PurePosixPath(file).parent.name.endswith("_json")


def masks_beside_images(tree: FileTree) -> set[str]:
    """Return the masks beside their images, recognized by names, and by content if mask and image have one name."""
    images = [f for f in tree.images if not is_in_mask_folder(f)]
    return set(_checked_pairs(tree, images))


def _checked_pairs(tree: FileTree, files: list[str]) -> dict[str, str]:
    """Pair masks in the folder of their image; those with another suffix only are recognized by content."""
    pairs = _pair_in_folder(files)
    twins = [m for m, image in pairs.items() if without_suffix(m).casefold() == without_suffix(image).casefold()]
    if not all(is_likely_mask(tree, mask) for mask in twins[:: max(1, len(twins) // 6)]):
        pairs = {mask: image for mask, image in pairs.items() if mask not in twins}
    return pairs


def _is_derived(file: str) -> bool:
    path = PurePosixPath(file)
    return any(_DERIVED.search(part) for part in path.parts[:-1]) or bool(_DERIVED_NAME.search(path.stem))


def _is_eiseg_copy(file: str, known: set[str]) -> bool:
    """Return True for the colored mask and the cut-out image that EISeg writes beside a mask. known: all stems."""
    stem = without_suffix(file)
    return any(stem.endswith(end) and stem.removesuffix(end) in known for end in ("_pseudo", "_cutout"))


def _is_object_of_xml(file: str, xml: set[str]) -> bool:
    """Return True for the mask of one object of a LabelMe file: "Masks/a_mask_0.png" beside "a.xml"."""
    path = PurePosixPath(file)
    stem, separator, number = path.stem.rpartition("_mask_")
    return bool(separator) and number.isdecimal() and str(path.parent.parent / f"{stem}.xml") in xml


def _without_copies(masks: list[str]) -> list[str]:
    """Return masks without the arrays that some tools write beside an image of the same mask."""
    stems = {without_suffix(mask) for mask in masks if suffix_of(mask) not in ARRAY_SUFFIXES}
    return [mask for mask in masks if suffix_of(mask) not in ARRAY_SUFFIXES or without_suffix(mask) not in stems]


def spellings(mask: str) -> tuple[str, ...]:
    """Return possible names of a mask's image, without suffix: "masks/a_mask.png" gives "a_mask" and "a" too."""
    names = [mask]
    level = _mask_level(mask)
    if level is not None:
        parts = PurePosixPath(mask).parts
        names.append("/".join(parts[:level] + parts[level + 1 :]))
    candidates: list[str] = []
    for name in names:
        candidates += [name, without_suffix(name)]  # "a.jpg.png" is a mask of "a.jpg"
        suffix_match = _ENDING.match(PurePosixPath(without_suffix(name)).name)
        if suffix_match is not None:
            candidates.append(str(PurePosixPath(name).with_name(suffix_match["stem"])))
    return tuple(dict.fromkeys(candidates))


def _mask_level(file: str) -> int | None:
    """Return the level of the mask folder in the path, None if the deepest known folder name is not one of masks."""
    parts = PurePosixPath(file).parts[:-1]
    for level in range(len(parts) - 1, -1, -1):
        name = normalized_name(parts[level])
        if name in MASK_FOLDERS:
            return level
        if name in IMAGE_FOLDERS:
            return None
    return None


def _pair_in_folder(files: list[str]) -> dict[str, str]:
    """Pair masks in the folder of their image: same stem with another suffix, or a stem that ends with "_mask"."""
    stems: dict[str, list[str]] = defaultdict(list)
    for file in files:
        stems[without_suffix(file).casefold()].append(file)
    pairs: dict[str, str] = {}
    for group in stems.values():
        if len(group) != 2:
            continue
        first, second = group
        for mask, image in ((first, second), (second, first)):
            lossless = suffix_of(mask) == ".png" or suffix_of(image) in LOSSY
            if suffix_of(mask) in MASK_SUFFIXES and suffix_of(image) != ".png" and lossless:
                pairs[mask] = image
                break
    for file in files:
        path = PurePosixPath(file)
        prefix_match = _PREFIX.match(path.stem)
        if prefix_match is not None and suffix_of(file) not in LOSSY:
            names = (path.with_name(f"{word}{prefix_match['rest']}") for word in ("img", "image", "photo", "picture"))
            found = [p for name in names for p in stems.get(str(name).casefold(), [])]
            if len(found) == 1:
                pairs[file] = found[0]
                continue
        if path.stem == "label" and len(found := stems.get(str(path.parent / "img").casefold(), [])) == 1:
            pairs[file] = found[0]
            continue
        suffix_match = _ENDING.match(path.stem)
        if suffix_match is None or file in pairs:
            continue
        if suffix_of(file) in LOSSY and _MASK_ENDING.search(path.stem) is None:
            continue
        folder = "" if str(path.parent) == "." else f"{path.parent}/"
        base = (folder + suffix_match["stem"]).casefold()
        candidates = [p for name in (base, f"{base}_img", f"{base}_image", f"{base}_rgb") for p in stems.get(name, [])]
        candidates = [p for p in candidates if p != file and p not in pairs]
        if not candidates and _MASK_ENDING.search(path.stem) is not None:
            images = {stem: found for stem, found in stems.items() if not _ENDING.match(PurePosixPath(stem).name)}
            candidates = sorted(_by_prefix(base, images))
        if len(candidates) == 1:
            pairs[file] = candidates[0]
    return pairs


def _match(masks: list[str], images: list[str], result: Pairing, *, strip_mask_folder: bool) -> None:
    """Find the image of each mask: by relative path first, then by a unique name."""
    by_path: dict[str, set[str]] = defaultdict(set)
    by_stem: dict[str, set[str]] = defaultdict(set)
    for image in dict.fromkeys(images):
        for path in _relatives(image, IMAGE_FOLDERS):
            by_path[path].add(image)
            by_path[path + suffix_of(image)].add(image)  # "a.bmp.png" is a mask of "a.bmp", not of "a.jpg"
        by_path[image.casefold()].add(image)
        for stem in _stems(image):
            by_stem[stem].add(image)
    for mask in masks:
        paths = _relatives(mask, MASK_FOLDERS) if strip_mask_folder else []
        candidates: Collection[str] = set()
        for path in paths:
            candidates = by_path.get(path, set())
            if len(candidates) == 1:
                break
        if len(candidates) != 1 and strip_mask_folder and len(PurePosixPath(mask).parts) > 2:
            # MVTec LOCO AD: a folder for each image.
            of_folder = [by_path.get(path, set()) for path in _relatives(str(PurePosixPath(mask).parent), MASK_FOLDERS)]
            candidates = next((found for found in of_folder if len(found) == 1), candidates)
        if len(candidates) != 1:
            for stem in _stems(mask):
                candidates = by_stem.get(stem, set())
                if len(candidates) == 1:
                    break
        if not candidates:
            candidates = _by_prefix(PurePosixPath(mask).stem.casefold(), by_stem)
        if len(candidates) == 1 and suffix_of(mask) != "":
            result.pairs[mask] = next(iter(candidates))
        else:
            result.unpaired.append(mask)


def _by_prefix(stem: str, by_stem: Mapping[str, Collection[str]]) -> Collection[str]:
    """Return the images with the longest name that `stem` continues: "part 1_crack" is a mask of "part 1"."""
    for end in range(len(stem) - 1, 0, -1):
        if stem[end] in "-_. " and stem[:end] in by_stem:
            return by_stem[stem[:end]]
    return set()


def name_after(mask: str, image: str) -> str:
    """Return the name of a class in a mask's name after the name of its image; "" if there is none."""
    stem, start = PurePosixPath(mask).stem, PurePosixPath(image).stem
    if not stem.casefold().startswith(start.casefold()):
        return ""
    ending = _ENDING.match(stem)
    if ending is not None and len(ending["stem"]) >= len(start):
        stem = ending["stem"]
    name = stem[len(start) :]
    if name.casefold().startswith(suffix_of(image)):  # "a.bmp_crack"
        name = name[len(suffix_of(image)) :]
    name = name.strip("-_. ")
    return "" if name.isdecimal() or re.fullmatch(r"(masks?|gt|labels?)[-_. ]*\d*", name, re.IGNORECASE) else name


def _relatives(file: str, folders: frozenset[str]) -> list[str]:
    """Return variants of the path in lower case: without suffix, kind folder, split folder and name ending."""
    path = PurePosixPath(without_suffix(file))
    parts = list(path.parts[:-1])
    variants = [parts]
    level = next((i for i in range(len(parts) - 1, -1, -1) if normalized_name(parts[i]) in folders), None)
    if level is not None:
        variants = [parts[:level] + parts[level + 1 :]]
    split = next((i for i, part in enumerate(variants[0]) if normalized_name(part) in SPLIT_FOLDERS), None)
    if split is not None:
        variants.append(variants[0][:split] + variants[0][split + 1 :])
    return ["/".join([*v, stem]).casefold() for v in variants for stem in _endings(path.name)]


def _endings(stem: str) -> list[str]:
    stems = [stem, without_suffix(stem)] if suffix_of(stem) in IMAGE_SUFFIXES else [stem]
    for pattern in (_ENDING, _IMAGE_ENDING):
        suffix_match = pattern.match(stem)
        if suffix_match is not None:
            stems.append(suffix_match["stem"])
    return stems


def _stems(file: str) -> list[str]:
    """Return names for matching: the stem, and the stem without a folder name as prefix ("W1/W1_07" gives "07")."""
    path = PurePosixPath(file)
    stems = [stem.casefold() for stem in _endings(path.stem)]
    for folder in path.parts[:-1]:
        start = folder.casefold()
        stems += [s[len(start) :].lstrip("-_. ") for s in list(stems) if s.startswith(start) and len(s) > len(start)]
    return stems
