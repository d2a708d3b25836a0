"""Image files of kinds that are not read, and the programs that convert them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from workbench.core.messages import Message

# Suffixes of one kind, and a program that converts them to PNG.
_CONVERTERS: tuple[tuple[str, str], ...] = (
    (".heic .heif .avif .jxl .psd .tga .ico .exr .hdr .dds .pcx", "ImageMagick (magick mogrify -format png)"),
    (".dcm .dicom", "ImageJ"),
    (".nii .nrrd .mha .czi .lif .nd2 .oib .vsi .svs .ndpi .mrxs", "ImageJ with Bio-Formats"),
    (".nef .cr2 .cr3 .arw .dng .orf .rw2 .raf .pef", "darktable"),
    (".gif .apng .webm .mp4 .avi .mov .mkv .wmv", "ffmpeg"),
    (".svg .pdf .eps .ai", "Inkscape"),
    (".raw .bin .img", "ImageJ (File > Import > Raw)"),
)
_PROGRAMS = {suffix: program for suffixes, program in _CONVERTERS for suffix in suffixes.split()}


def count_unused(names: Iterable[str]) -> Counter[str]:
    """Return the number of image files that are not read, by their suffix in lower case."""
    return Counter(suffix for name in names if (suffix := PurePosixPath(name).suffix.lower()) in _PROGRAMS)


def unused_texts(counts: Counter[str]) -> list[str]:
    """Return a sentence for each suffix of `counts`, with a program that converts such files."""
    return [
        Message("images.unused", n=count, suffix=suffix, program=_PROGRAMS[suffix])
        for suffix, count in counts.most_common()
    ]
