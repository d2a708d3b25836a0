"""Assignment of masks to images by all evidence: lists, names, folders, sizes, and the contents of the files.

If several assignments agree with the evidence, `PairingChoice` asks which is right; until then, none is made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, PairingChoice, series_of, suffix_of, without_suffix
from workbench.core.project.formats.data_split import paired_rows
from workbench.core.project.formats.mask_content import content_of, size_of
from workbench.core.project.formats.mask_files import ARRAY_SUFFIXES
from workbench.core.project.formats.mask_names import (
    CERTAIN,
    LIKELY,
    NOT_NAMED,
    FileName,
    file_name,
    is_derived,
    mask_level,
    without_mask_words,
    words_of,
)
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.text_safety import natural_key

_LOSSLESS = (".png", ".gif", ".bmp", ".tif", ".tiff", ".pgm", ".pbm", ".pnm", ".dib", *ARRAY_SUFFIXES)
_OF_EISEG = ("_pseudo", "_cutout")  # ends of its colored mask and of the image cut out by it
_SAMPLE = 6  # files of a folder whose content tells if it is one of masks
_EXAMPLES = 3
Examples = list[tuple[Path | None, Path]]  # (image, mask)
ORDER, AS_MASKS, AS_IMAGES = "order", "doubtful=masks", "doubtful=images"  # answers
EQUAL, IN_ORDER = "numbers=equal", "numbers=order"  # answers
WHOLE_NAME, START_OF_NAME = "names=whole", "names=part"  # answers
_TEXTS = {
    ORDER: "import.pair_order",
    EQUAL: "import.pair_equal",
    IN_ORDER: "import.pair_in_order",
    WHOLE_NAME: "import.pair_whole",
    START_OF_NAME: "import.pair_part",
}


@dataclass
class Pairing:
    """Masks and images of a tree.

    pairs: mask -> image. unpaired: masks whose image is not under the path; strange: those of them that have the name
    of an image in a folder of another name. open: mask -> images, of which one is its image. doubtful: file -> its
    image or None, if it is a mask by its name or by its content only. not_masks: photographs beside an image of the
    same name -> this image. copies: files that are not imported, such as colored copies. images: those without a mask.
    choices: possible answers to what is open or doubtful.
    """

    pairs: dict[str, str] = field(default_factory=dict)
    unpaired: list[str] = field(default_factory=list)
    strange: set[str] = field(default_factory=set)
    open: dict[str, list[str]] = field(default_factory=dict)
    doubtful: dict[str, str | None] = field(default_factory=dict)
    not_masks: dict[str, str] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    choices: list[PairingChoice] = field(default_factory=list)


def pair(tree: FileTree, *, inspect_contents: bool = False, answer: str | None = None) -> Pairing:
    """Pair the image files of a tree.

    inspect_contents: folders of masks whose names do not tell that they are masks are detected by their content.
    answer: rules of `PairingChoice`, separated by commas.
    """
    key = f"pairing {inspect_contents} {answer} {tree.encoding}"
    if key not in tree.memo:
        tree.memo[key] = _Engine(tree, (answer or "").split(",")).run(inspect_contents)
    return tree.memo[key]


def masks_beside_images(tree: FileTree) -> set[str]:
    """Return the masks of a tree that are recognized by names, and by content if mask and image have one name."""
    found = pair(tree)
    alone = {mask for mask in found.unpaired if file_name(mask).named == CERTAIN}
    return {*found.pairs, *found.open, *found.copies, *alone}.difference(found.pairs.values())


class _Engine:
    """One pass over the files of a tree. rules: answers of the user."""

    def __init__(self, tree: FileTree, rules: Sequence[str]) -> None:
        self._tree, self._rules = tree, [rule.strip() for rule in rules if rule.strip()]
        self._result = Pairing()
        self._shifted: dict[str, str] = {}  # mask -> image in the order of their numbers, which start elsewhere

    def run(self, inspect_contents: bool) -> Pairing:
        tree, result, own = self._tree, self._result, self._tree.originals
        files = [f for f in tree.files if suffix_of(f) in IMAGE_SUFFIXES or suffix_of(f) in (".gif", *ARRAY_SUFFIXES)]
        files = self._without_copies(files)
        result.pairs |= listed_pairs(tree)
        listed = {*result.pairs, *result.pairs.values()}
        named: dict[int, list[str]] = {NOT_NAMED: [], LIKELY: [], CERTAIN: []}
        for file in files:
            if file not in listed and file not in own.images:
                array = LIKELY if suffix_of(file) in ARRAY_SUFFIXES else NOT_NAMED
                named[CERTAIN if file in own.labels else max(file_name(file).named, array)].append(file)
        twins, root = self._twins(named[NOT_NAMED]), words_of(tree.root.name)
        if root.named and not root.rest and not (named[LIKELY] or named[CERTAIN] or twins):
            named[CERTAIN], named[NOT_NAMED] = named[NOT_NAMED], []  # a folder of masks alone
        images = [file for file in named[NOT_NAMED] if file not in twins and file not in result.doubtful]
        images += [file for file in files if file in own.images]
        for certainty in (LIKELY, CERTAIN):
            index = _Images([*images, *result.pairs.values()], named[certainty])
            for mask in named[certainty]:
                if not self._assign(mask, index, certain=certainty == CERTAIN):
                    # a word for masks may also be that of a product: the content decides
                    (named[CERTAIN] if self._is_mask(mask) else images).append(mask)
            images = [file for file in images if suffix_of(file) in IMAGE_SUFFIXES]
        result.pairs |= twins
        if inspect_contents:
            self._match_by_content(self._unused(images))
        self._leave_rivals_open()
        self._leave_numbered_open()
        self._leave_shifted_open(self._unused(images))
        doubtful = [file for file in result.doubtful if suffix_of(file) in IMAGE_SUFFIXES]
        self._choose()
        result.images = self._unused([*images, *doubtful, *(one for found in result.open.values() for one in found)])
        return result

    def _unused(self, files: Iterable[str]) -> list[str]:
        found = self._result
        used = {*found.pairs, *found.pairs.values(), *found.unpaired, *found.open, *found.doubtful, *found.copies}
        return [file for file in dict.fromkeys(files) if file not in used]

    def _is_mask(self, file: str) -> bool | None:
        content = content_of(self._tree, file)
        return None if content is None else content.is_mask

    def _without_copies(self, files: list[str]) -> list[str]:
        """Return files without the copies of masks: colored ones, arrays of the same numbers, masks of XML objects."""
        known = {without_suffix(file) for file in files if suffix_of(file) not in ARRAY_SUFFIXES}
        xml = set(self._tree.with_suffix(".xml"))

        def is_copy(file: str) -> bool:
            stem, path = without_suffix(file), PurePosixPath(file)
            owner, separator, number = path.stem.rpartition("_mask_")
            return (
                is_derived(file)
                or any(stem.endswith(end) and stem.removesuffix(end) in known for end in _OF_EISEG)
                or (suffix_of(file) in ARRAY_SUFFIXES and stem in known and mask_level(file) is not None)
                or (bool(separator) and number.isdecimal() and str(path.parent.parent / f"{owner}.xml") in xml)
            )

        own = self._tree.originals
        copies = {file for file in files if file not in own.labels and file not in own.images and is_copy(file)}
        self._result.copies = [file for file in files if file in copies]
        return [file for file in files if file not in copies]

    def _twins(self, files: list[str]) -> dict[str, str]:
        """Return mask -> image of files that differ in their suffix only. Their content tells which one is the mask."""
        stems: dict[str, list[str]] = defaultdict(list)
        for file in files:
            stems[without_suffix(file).casefold()].append(file)
        pairs: dict[str, str] = {}
        for group in stems.values():
            if len(group) != 2 or suffix_of(group[0]) == suffix_of(group[1]):
                continue
            first, second = sorted(group, key=lambda file: suffix_of(file) != ".png")
            if suffix_of(first) != ".png" and (suffix_of(first) not in _LOSSLESS or suffix_of(second) in _LOSSLESS):
                first, second = second, first
            kinds = self._is_mask(first), self._is_mask(second)
            if kinds[1] and not kinds[0] and content_of(self._tree, first) is not None:
                first, second, kinds = second, first, kinds[::-1]
            if kinds[0] or content_of(self._tree, first) is None:  # the reason is told when the mask is read
                pairs[first] = second
            elif kinds[0] is None and size_of(self._tree, first) == size_of(self._tree, second):
                self._result.doubtful[first] = second
            else:
                self._result.not_masks[first] = second
        return pairs

    def _assign(self, mask: str, index: _Images, *, certain: bool) -> bool:
        """Record what the evidence says about a file with the name of a mask. Returns False if it may be an image."""
        result, (candidates, strange) = self._result, index.find(mask)
        if len(candidates) > 1:
            same_size = [image for image in candidates if size_of(self._tree, image) == size_of(self._tree, mask)]
            candidates = same_size or candidates
        content = None if suffix_of(mask) in ARRAY_SUFFIXES else content_of(self._tree, mask)
        is_photo = content is not None and content.is_photo
        if not certain and (not candidates or (is_photo and file_name(mask).in_images)):
            return False
        if is_photo:
            result.doubtful[mask] = candidates[0] if len(candidates) == 1 else None
        elif len(candidates) == 1:
            result.pairs[mask] = candidates[0]
        elif candidates:
            result.open[mask] = candidates
        else:
            result.unpaired.append(mask)
            result.strange |= {mask} if strange else set()
        return True

    def _match_by_content(self, images: list[str]) -> None:
        """Find masks whose names do not tell that they are: folders in which each file of a sample is a mask.

        Beside masks with such names, they are doubtful. Otherwise they are masks if they have the names of images.
        """
        result, folders = self._result, defaultdict[str, list[str]](list)
        for file in images:
            folders[str(PurePosixPath(file).parent)].append(file)
        masks: list[str] = []
        for group in folders.values():
            sample = group[:: max(1, len(group) // _SAMPLE)][:_SAMPLE]
            if all(suffix_of(file) in _LOSSLESS for file in group) and all(map(self._is_mask, sample)):
                contents = [content_of(self._tree, file) for file in sample]
                masks += group if any(content is not None and len(content.values) > 1 for content in contents) else []
        others = [file for file in images if file not in set(masks)]
        paired = list(result.pairs.values())
        if not masks or (not others and paired and all(map(self._is_mask, paired[:_SAMPLE]))):
            return  # no mask, or images that look like masks, too
        if not others and not paired:
            result.unpaired += masks
            return
        index = _Images([*others, *paired], masks)
        candidates = {mask: index.find(mask)[0] for mask in masks}
        found = {mask: one[0] if len(one) == 1 else None for mask, one in candidates.items()}
        if result.pairs or result.open or result.unpaired:
            result.doubtful |= found
        elif any(found.values()):
            result.pairs = {mask: image for mask, image in found.items() if image is not None}
            result.doubtful |= {mask: None for mask, image in found.items() if image is None}

    def _leave_rivals_open(self) -> None:
        """Leave pairs open if masks in folders of different names may be different labels of one image.

        They are its classes if each is black and white, and each folder has the name of a class.
        """
        of_image: dict[str, list[str]] = defaultdict(list)
        for mask, image in self._result.pairs.items():
            of_image[image].append(mask)
        names = {
            image: {frozenset(file_name(mask).folders) - set(file_name(image).folders) for mask in masks}
            for image, masks in of_image.items()
        }
        rivals = [image for image in of_image if len(names[image]) > 1]
        numbered = any(self._has_ids(mask) for image in rivals for mask in of_image[image])
        for image in rivals:
            if numbered or frozenset() in names[image]:
                for mask in of_image[image]:
                    del self._result.pairs[mask]
                    self._result.open[mask] = [image]

    def _leave_numbered_open(self) -> None:
        """Leave a mask "a_2" of an image "a_2" open if there is a mask "a_1" of "a": it may be a further one of "a"."""
        pairs = self._result.pairs
        words = {file: (*file_name(file).folders, *file_name(file).stem) for file in (*pairs, *pairs.values())}
        further: dict[tuple[PurePosixPath, tuple[str, ...], bool], str] = {}

        def keys(mask: str) -> Iterator[tuple[PurePosixPath, tuple[str, ...], bool]]:
            """Yield the folder of a mask, its words without the last one or the first of its name, and if it is one."""
            own, last = words[mask], len(words[mask]) - 1
            for place in {last, min(last, len(file_name(mask).folders))} if own else ():
                yield PurePosixPath(mask).parent, own[:place] + own[place + 1 :], own[place].isdecimal()

        for mask, image in pairs.items():
            further |= {key: image for key in keys(mask) if key[1] == words[image]}
        for mask, image in list(pairs.items()):
            found = [further[key] for key in keys(mask) if key in further]
            if found and words[mask] == words[image]:
                del pairs[mask]
                self._result.open[mask] = [image, found[0]]

    def _leave_shifted_open(self, images: list[str]) -> None:
        """Leave masks "0", "1", "2" of images "1", "2", "3" open: equal numbers may belong together, or their order."""
        result, of_folders = self._result, defaultdict[tuple[PurePosixPath, PurePosixPath], dict[str, str]](dict)
        for mask, image in result.pairs.items():
            of_folders[PurePosixPath(mask).parent, PurePosixPath(image).parent][mask] = image
        for (of_masks, of_images), equal in of_folders.items():
            others = [mask for mask in result.unpaired if PurePosixPath(mask).parent == of_masks]
            without = [image for image in images if PurePosixPath(image).parent == of_images]
            order = dict(zip(_by_number([*equal, *others]), _by_number([*equal.values(), *without])))
            shifts = {_number(image) - _number(mask) for mask, image in order.items()}
            if not others or len(others) != len(without) or len(shifts) != 1 or 0 in shifts or EQUAL in self._rules:
                continue
            for mask in order:
                result.pairs.pop(mask, None)
            result.unpaired = [mask for mask in result.unpaired if mask not in order]
            if IN_ORDER in self._rules:
                result.pairs |= order
                continue
            self._shifted |= order
            result.open |= {mask: list(dict.fromkeys([equal.get(mask, image), image])) for mask, image in order.items()}
            for rule, pairs in ((EQUAL, equal), (IN_ORDER, order)):
                examples: Examples = [(self._tree.path(image), self._tree.path(mask)) for mask, image in pairs.items()]
                result.choices.append(_choice(rule, Message(_TEXTS[rule]), examples))

    def _has_ids(self, mask: str) -> bool:
        """Return True for a mask whose values are numbers or colors of classes."""
        content = content_of(self._tree, mask)
        if content is None or content.lossy or not content.values.size:
            return False
        return len(content.values) > 2 if content.kind == "colour" else 1 < content.values[-1] < 128

    # --- questions ----------------------------------------------------------------------------------

    def _choose(self) -> None:
        """Apply the answers to open questions, and list the possible answers to the others."""
        result, path, answers = self._result, self._tree.path, self._answers()
        if AS_MASKS in self._rules:
            chosen = {mask: image for mask, image in result.doubtful.items() if image is not None}
            result.pairs |= chosen
            result.doubtful = {mask: None for mask in result.doubtful if mask not in chosen}
        if AS_IMAGES in self._rules:
            result.doubtful = {}
        elif result.doubtful:
            files: Examples = [(None, path(file)) for file in result.doubtful]
            masks: Examples = [
                (path(image), path(mask)) for mask, image in result.doubtful.items() if image is not None
            ]
            result.choices.append(_choice(AS_IMAGES, Message("import.doubtful_images"), files))
            if masks:
                result.choices.append(_choice(AS_MASKS, Message("import.doubtful_masks"), masks))
        for rule in self._rules:
            result.pairs |= answers.get(rule, {})
        answered = {image for mask, image in result.pairs.items() if mask in result.open}
        left = {mask: images for mask, images in result.open.items() if mask not in result.pairs}
        result.open = {mask: images for mask, images in left.items() if not answered.issuperset(images)}
        result.copies += [mask for mask in left if mask not in result.open]  # another mask was chosen for the image
        for rule, pairs in answers.items() if result.open else ():
            folder, _, target = rule.rpartition("=")
            masks_of, images_of = (self._tree.root.name if one == "." else one for one in (folder, target))
            by_folder = Message("import.pair_folder", masks=masks_of, images=images_of)
            if target in IMAGE_SUFFIXES:
                by_folder = Message("import.pair_suffix", masks=masks_of, suffix=target)
            examples: Examples = [(path(image), path(mask)) for mask, image in pairs.items() if mask in result.open]
            if examples:
                result.choices.append(_choice(rule, Message(_TEXTS[rule]) if rule in _TEXTS else by_folder, examples))

    def _answers(self) -> dict[str, dict[str, str]]:
        """Return the pairs by possible answers: one folder of images for one of masks, or all folders in order."""
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        folders: dict[str, set[str]] = defaultdict(set)
        for mask, images in self._result.open.items():
            if mask in self._shifted:
                continue
            folder = str(PurePosixPath(mask).parent)
            same_folder = len({PurePosixPath(image).parent for image in images}) < len(images)
            if same_folder and len(set(map(suffix_of, images))) < len(images):
                for rule, image in zip((WHOLE_NAME, START_OF_NAME), sorted(images, key=len, reverse=True)):
                    answers[rule][mask] = image
                continue
            for image in images:
                target = suffix_of(image) if same_folder else str(PurePosixPath(image).parent)
                folders[folder].add(target)
                answers[f"{folder}={target}"][mask] = image
        targets = sorted(set().union(*folders.values()), key=natural_key)
        if len(folders) == len(targets) > 1:
            ordered = [f"{folder}={target}" for folder, target in zip(sorted(folders, key=natural_key), targets)]
            if all(rule in answers for rule in ordered):
                return {ORDER: {mask: image for rule in ordered for mask, image in answers[rule].items()}, **answers}
        return dict(answers)


def _choice(rule: str, text: str, pairs: Examples) -> PairingChoice:
    return PairingChoice(rule, text, len(pairs), pairs[:_EXAMPLES])


def listed_pairs(tree: FileTree) -> dict[str, str]:
    """Return mask -> image of the pairs in tables and lists of PaddleSeg and PaddleX, relative to these or to the tree.

    The list in an export of the workbench is one of them.
    """
    files = tree.names
    pairs = {label: image for label, image in tree.originals.pairs.items() if suffix_of(label) in IMAGE_SUFFIXES}
    for name, *columns in paired_rows(tree):
        for folder in (PurePosixPath(name).parent, PurePosixPath()):
            image, mask = (str(folder / column) for column in columns)
            if image != mask and image in files and mask in files and PurePosixPath(mask).suffix != ".xml":
                pairs[mask] = image
                break
    return pairs


class FolderWords:
    """Words in the folders of images and of their masks or label files, by which several images are told apart."""

    def __init__(self, images: Iterable[str], labels: Iterable[str]) -> None:
        self._of_images = {word for image in images for word in file_name(image).folders}
        self._of_labels = {word for label in labels for word in file_name(label).folders}
        self._series = set(map(series_of, self._of_images & self._of_labels))

    def best(self, label: str, images: Iterable[str]) -> list[str]:
        """Return those of some images with the name of a label that share most with it: folders, split, exact name."""
        name, part, images = file_name(label), file_name(label, own=True), list(images)
        found = self._best(name, label, images)
        if found and part.folders != name.folders:
            found += [image for image in self._best(part, label, images) if image not in found]
        return found

    def _best(self, name: FileName, label: str, images: list[str]) -> list[str]:
        own, path = set(name.folders), PurePosixPath(label)
        stem = without_mask_words(path.stem).casefold()

        def agreement(image: str) -> tuple[int, bool, bool, bool, bool, bool]:
            other = file_name(image)
            return (
                len(own.intersection(other.folders)),
                other.split == name.split,
                own.issuperset(other.folders),
                PurePosixPath(image).parent == path.parent,
                PurePosixPath(image).stem.casefold() in (path.stem.casefold(), stem),
                _spelled(image) <= _spelled(label),
            )

        found = [image for image in images if self._agree(name, file_name(image))]
        best = max(map(agreement, found), default=None)
        return [image for image in found if agreement(image) == best]

    def _agree(self, label: FileName, image: FileName) -> bool:
        """Return False if the folder of one has a name that only the other's lacks: "lot 1" against "lot 2".

        So it is if only others of their numbers have both images and labels.
        """
        own, theirs = set(label.folders), set(image.folders)
        if (own - theirs) & self._of_images or (theirs - own) & self._of_labels:
            return False
        if self._series.intersection(map(series_of, own - theirs)).intersection(map(series_of, theirs - own)):
            return False
        return label.split == image.split or label.split is None or image.split is None


class _Images:
    """Images by the words of their names. masks: all masks, whose folders may be named like those of the images."""

    def __init__(self, images: Iterable[str], masks: Iterable[str]) -> None:
        self._by_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._by_stem: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._by_numbers: dict[tuple[str, ...], list[str]] = defaultdict(list)
        names = {image: file_name(image) for image in images}
        self._folders = FolderWords(names, masks)
        for image, name in names.items():
            for words in dict.fromkeys([*name.endings(), *name.endings(whole=True)]):
                self._by_words[words].append(image)
            for words in {name.stem, name.whole}:
                self._by_stem[words].append(image)
            self._by_numbers[_numbers(name.stem)].append(image)

    def find(self, mask: str) -> tuple[list[str], bool]:
        """Return the images that may be that of a mask, and whether there are others in folders of other names."""
        strange, part = False, file_name(mask, own=True)
        # "a_mask_2" is the mask of "a_2", or the second one of "a"
        others = self._by_stem.get(part.stem, []) if part != file_name(mask) else []
        for words in self._searched(mask):
            images = [image for image in words if image != mask]
            found = self._folders.best(mask, images)
            if found:
                return [*found, *(image for image in self._folders.best(mask, others) if image not in found)], False
            strange = strange or bool(images)
        return [], strange

    def _searched(self, mask: str) -> Iterator[list[str]]:
        """Yield the images with the name of a mask, those with the most words of its path first."""
        name, path = file_name(mask), PurePosixPath(mask)
        keys = [(len(words), True, words) for words in name.endings()]
        if len(path.parts) > 2:  # a folder for each image, as of MVTec LOCO AD
            keys += [(len(words), False, words) for words in file_name(str(path.parent)).endings() if words]
        for _, of_file, words in sorted(keys, reverse=True):
            found = self._by_words.get(words, [])
            if not of_file:  # the folder has the whole name of the image
                found = [one for one in found if words[-len(file_name(one).stem) :] == file_name(one).stem]
            yield found
        for length in range(len(name.stem) - 1, 0, -1):  # "part 1_crack" is a mask of "part 1"
            yield self._by_stem.get(name.stem[:length], [])
            yield self._by_stem.get(name.stem[-length:], [])
        yield self._by_numbers.get(_numbers(name.stem), [])


def _by_number(files: Iterable[str]) -> list[str]:
    """Return the files whose names end with a number, in the order of these."""
    return sorted((file for file in files if any(map(str.isdecimal, file_name(file).stem[-1:]))), key=_number)


def _number(file: str) -> int:
    return int(file_name(file).stem[-1])


def _spelled(file: str) -> set[str]:
    """Return the words of a file's name as they are written, which tell "A.png" from "a.png"."""
    return set(re.findall(r"[^\W_]+", PurePosixPath(file).stem))


def _numbers(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a name with numbers in their shortest form."""
    return tuple(word.lstrip("0") or "0" if word.isdecimal() else word for word in words)
