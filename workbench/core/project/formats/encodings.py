"""Encoding of a text file that does not state it: a guess among code pages, by how usual its letters would be."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator

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
