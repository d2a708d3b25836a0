"""Text files of other tools: encodings (stated, UTF-8, UTF-16, else chosen or guessed), JSON, XML and CSV files."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel, reason
from workbench.inference.io.file_access import open_regular
from workbench.inference.io.json_io import parse_json, read_file

LARGEST = 1 << 30  # bytes of a label file, which may embed its image
LARGEST_SET = 256 << 20  # bytes of a label file of many images, which needs about 15 times its size in memory
_BLOCK = 1 << 20  # bytes of larger files that are searched for keys at a time
_LONGEST_KEY = 64  # bytes
_EXAMPLES = 3  # texts that are shown with a guessed encoding

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Letters that hardly occur in texts, but are UTF-8 of the bytes of common Chinese characters in GB2312.
_UNLIKELY = re.compile("[\u0250-\u02ff\u0340-\u037f]")
_GB2312 = re.compile(rb"(?:[\x00-\x7f]|[\xb0-\xf7][\xa1-\xfe])*")
_DECLARED = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)[\"']")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SHOWN = re.compile(r"[^\s\"'<>\[\]{},;|]*[^\x00-\x7f][^\"'<>\[\]{},;|\n\r\t]*")


def decode_text(data: bytes) -> str:
    """Return the text of a file, see `decoded`. Raises ValueError, UnreadableLabel."""
    return decoded(data)[0]


def decoded(data: bytes, encoding: str | None = None) -> tuple[str, str | None]:
    """Return (text, name of its encoding if that was chosen or guessed, else None).

    A byte order mark and the declaration of an XML file state the encoding; other files are UTF-8, or else in the
    `encoding` that the user chose, or else in a guessed one. Raises ValueError, UnreadableLabel.
    """
    if data[:2] in _UTF_16:
        return data.decode("utf-16"), None
    declared = _DECLARED.match(data[:200])
    if declared is not None and (name := declared[1].decode().casefold()) not in ("utf-8", "utf-16"):
        try:
            return data.decode("gb18030" if name in ("gb2312", "gbk") else name), None
        except (LookupError, UnicodeDecodeError):
            pass  # the declaration is wrong
    zeros = data[:_BLOCK].count(0)
    if zeros > len(data[:_BLOCK]) // 4:
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be"), None
    if zeros:
        raise UnreadableLabel(Message("import.no_text"))
    try:
        text = data.decode("utf-8-sig")
        by_chance = not text.isascii() and _UNLIKELY.search(text) is not None and _GB2312.fullmatch(data) is not None
        if not by_chance:
            return text, None
    except UnicodeDecodeError:
        pass
    chosen = encoding or guess(data)
    try:
        return data.decode(chosen), chosen
    except UnicodeDecodeError:
        raise UnreadableLabel(Message("import.other_encoding", encoding=chosen)) from None


def read_text(tree: FileTree, path: Path, *, limit: int) -> str:
    """Return the content of a text file of at most `limit` bytes; a guessed encoding is kept in `tree.guesses`.

    Raises FileNotFoundError, ValueError, UnreadableLabel.
    """
    text, guessed = decoded(read_file(path, limit=limit), tree.encoding)
    if guessed is not None:
        shown = dict.fromkeys(match.strip() for match in _SHOWN.findall(text))
        tree.guesses[path] = guessed, tuple(shown)[:_EXAMPLES]
    return text


def texts(tree: FileTree, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Yield (name, content) of the text files with a suffix; those that cannot be read are left out."""
    for name in tree.with_suffix(*suffixes):
        try:
            yield name, read_text(tree, tree.path(name), limit=LARGEST_SET)
        except (FileNotFoundError, ValueError, UnreadableLabel):
            continue


def text_lines(tree: FileTree, name: str, *, limit: int = 1 << 20) -> list[str] | None:
    """Return the lines of a text file that are not blank, or None if it cannot be read."""
    try:
        text = read_text(tree, tree.path(name), limit=limit)
    except (FileNotFoundError, ValueError, UnreadableLabel):
        return None
    return [line for line in text.splitlines() if line.strip()]


def listed_names(tree: FileTree, files: Iterable[str]) -> dict[int, str]:
    """Return the names of the classes by their numbers, from 0: the lines of the first file that has any."""
    lists = (text_lines(tree, name) for name in files)
    return dict(enumerate(map(str.strip, next(filter(None, lists), []))))


def table_rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a table whose columns have titles, separated by tabs, semicolons or commas.

    Raises UnreadableLabel.
    """
    first = text.split("\n", 1)[0]
    try:
        return list(csv.DictReader(io.StringIO(text.lstrip("#")), delimiter=max(",;\t", key=first.count)))
    except csv.Error:
        raise UnreadableLabel(Message("import.unexpected_content")) from None


def xml_root(tree: FileTree, name: str) -> Element:
    """Return the root element of an XML file. Entities are not expanded. Raises UnreadableLabel."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        text = read_text(tree, tree.path(name), limit=LARGEST_SET)
        return fromstring(_XML_DECLARATION.sub("", text, count=1))  # the parser supports few encodings
    except ParseError as error:
        raise UnreadableLabel(Message("import.no_xml_line", n=error.position[0])) from None
    except DefusedXmlException:
        raise UnreadableLabel(Message("import.no_xml")) from None


def json_counts(
    *keys: bytes, count: bytes | None = None, without: bytes | None = None, folder: str | None = None
) -> Callable[[FileTree], dict[str, int]]:
    """Return the function from a tree to its JSON files that contain all `keys`, with their likely number of labels.

    count: key that occurs once for each label; None for files with one label. without: key of another format. folder:
    name of the folder of the files, if all tools use it.
    """

    def counts(tree: FileTree) -> dict[str, int]:
        return {
            name: 1 if count is None else max(1, data.count(count))
            for name, data in json_files(tree, *keys)
            if (without is None or without not in data) and folder in (None, PurePosixPath(name).parent.name)
        }

    return counts


def json_files(tree: FileTree, *keys: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content as UTF-8) of the JSON files below a tree that contain all `keys`, such as b'"images"'.

    Of files that are too large to be loaded, which are refused later, the content is the start only.
    """
    for name in tree.with_suffix(".json"):
        path = tree.path(name)
        try:
            if path.stat().st_size > LARGEST_SET:
                data = _start_with_keys(path, keys)
            else:
                data = read_file(path, limit=LARGEST_SET)
                if data[:2] in _UTF_16 or b"\0" in data[:2]:
                    data = decode_text(data).encode()
        except (OSError, ValueError, UnreadableLabel):
            continue
        if all(key in data for key in keys):
            yield name, data


def _start_with_keys(path: Path, keys: Sequence[bytes]) -> bytes:
    """Return the start of a large file, followed by those of `keys` that occur anywhere in it."""
    missing, rest = set(keys), b""
    with open_regular(path) as file:
        start = block = file.read(_BLOCK)
        while block and missing:
            missing -= {key for key in missing if key in rest + block}
            rest = block[-_LONGEST_KEY:]
            block = file.read(_BLOCK)
    return start + b" ".join(set(keys) - missing)


def load(tree: FileTree, name: str, *, limit: int = LARGEST_SET) -> Any:
    """Return the content of a JSON label file of at most `limit` bytes. Raises UnreadableLabel."""
    path = tree.path(name)
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableLabel(Message("import.file_too_large", n=size >> 20, m=limit >> 20))
        return parse_json(read_text(tree, path, limit=limit))
    except (OSError, ValueError) as error:
        raise UnreadableLabel(reason(error)) from None


# --- guesses of encodings, by how usual the letters of a text would be ---------------------------

# Frequent characters of texts about inspection and of common words. Other characters of a language count less.
_CHINESE = frozenset(
    "的一是不了在有大小中上下个面前后左右合格良品正常无有缺陷裂纹划痕伤口孔洞坑凹凸点污渍脏迹锈蚀斑毛刺气泡杂质异物变形"
    "断裂破损崩边缺口压痕擦刮磨损色差焊接漏虚短路开路铜线针脚表面油脱碳麻辊印氧化铁皮结疤块鼓包白焊未熔夹渣轻微严重其他类别标签图片编号结果判定检测产品批次背景"
)
_TRADITIONAL = frozenset(
    "的一是不了在有大小中上下個面前後左右合格良品正常無缺陷裂紋劃痕傷口孔洞坑凹凸點污漬髒跡鏽蝕斑毛刺氣泡雜質異物變形"
    "斷裂破損崩邊壓痕擦刮磨損色差焊接漏虛短路開路銅線針腳表面油脫碳麻輥印氧化鐵皮結疤塊鼓包白焊未熔夾渣輕微嚴重其他類別標籤圖片編號結果判定檢測產品批次背景"
)
_JAPANESE = frozenset(
    "の一不良正常傷打痕汚異物欠割変色形穴気泡錆焼跡付着面部品検査結果判定画像名前合格上下左右中大小有無番号種類"
)
_KOREAN = frozenset(
    "이가을를의에은는다고하지한사기리스크래치불량정상합격양호긁힘찍균열결함이물질오염얼룩기포녹파손변형색깨짐구멍미성형버누락"
    "눌림흠집덴트들뜸박리돌출몰백흑점용접비드언컷단선쇼트납땜표면검사결과판정제품사진번호이름등급없음있음대중소상하좌우"
)
_WORD = re.compile(r"[^\W\d_]+")
_UNIT = re.compile(r"(?<![^\x00-\x7f])[µ°±²³×Ø½¼¾§€](?![^\x00-\x7f])")


def _characters(common: frozenset[str], first: str, leads: range) -> Callable[[str], Iterator[float]]:
    """Return a function that rates the characters of a text in a double-byte encoding `first`.

    leads: first bytes of its frequent characters.
    """

    def rate(text: str) -> Iterator[float]:
        for position, sign in enumerate(text):
            if sign.isascii():
                continue
            data = sign.encode(first, "ignore")
            beside = text[max(0, position - 1) : position] + text[position + 1 : position + 2]
            if sign in common or "\u3041" <= sign <= "\u30fe":
                value = 1.0
            elif len(data) == 2 and data[0] in leads:
                value = 0.4
            else:
                value = 0.2 if len(data) == 2 and not sign.isalnum() else -0.5
            # Words of Western languages seem to hold single characters between Latin letters.
            inside = len(beside) == 2 and all(one.isascii() and one.isalpha() for one in beside)
            yield 2 * (value - 0.8 * inside)

    return rate


def _cyrillic(text: str) -> Iterator[float]:
    for word in _WORD.findall(text):
        if not word.isascii():
            usual = sum(0.9 if sign in "оеаинтсрвлкм" else 0.3 for sign in word.lower())
            case = 1.0 if word.islower() or word.istitle() else 0.7 if word.isupper() else -0.3
            letters = all("\u0400" <= sign <= "\u045f" for sign in word)
            yield usual * case * (0.4 if len(word) == 1 else 1.0) if letters else -0.5 * len(word)
    yield from (-0.5 for sign in _UNIT.sub(" ", text) if not sign.isascii() and not sign.isalpha())


def _western(text: str) -> Iterator[float]:
    for word in _WORD.findall(_UNIT.sub(" ", text)):
        mixed = any(sign.isupper() for sign in word[1:]) and any(sign.islower() for sign in word)
        for run in re.findall(r"[^\x00-\x7f]+", word):
            usual = len(run) < 3 and len(run) < len(word) and not mixed
            yield len(run) * (0.8 if usual else 0.6 if len(word) == 1 else -0.4)
    yield 0.9 * len(_UNIT.findall(text))
    yield from (-0.4 for sign in _UNIT.sub(" ", text) if not sign.isascii() and not sign.isalpha())


# Candidates in the order in which equal ratings are decided.
_RATINGS: dict[str, Callable[[str], Iterator[float]]] = {
    "cp1252": _western,
    "gb18030": _characters(_CHINESE, "gb2312", range(0xB0, 0xD8)),
    "cp932": _characters(_JAPANESE, "shift_jis", range(0x88, 0x98)),
    "cp949": _characters(_KOREAN, "euc_kr", range(0xB0, 0xC9)),
    "big5": _characters(_TRADITIONAL, "big5", range(0xA4, 0xC7)),
    "euc_jp": _characters(_JAPANESE, "euc_jp", range(0xB0, 0xD0)),
    "cp1251": _cyrillic,
    "koi8_r": _cyrillic,
    "cp866": _cyrillic,
}
_MOST_RATED = 1 << 16  # bytes


def guess(data: bytes) -> str:
    """Return the likely encoding of a text that is not UTF-8, as the name of a codec of Python; one that decodes it."""
    sample = b"\n".join(line for line in data.splitlines() if not line.isascii())
    sample = sample[:_MOST_RATED].rpartition(b"\n")[0] if len(sample) > _MOST_RATED else sample
    best, rating = "latin-1", float("-inf")
    for name, rate in _RATINGS.items():
        try:
            data.decode(name)
            rated = sum(rate(sample.decode(name)))
        except UnicodeDecodeError:
            continue
        if rated > rating:
            best, rating = name, rated
    return best


def is_text_encoding(name: str) -> bool:
    """Return True for the name of an encoding of texts that Python knows."""
    try:
        "".encode(name)
        return bool(codecs.lookup(name))
    except (LookupError, ValueError, UnicodeError):
        return False
