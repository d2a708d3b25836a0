"""Time from the request of an image to the screen, and the memory that remains after many images.

python -m tests.benchmarks.opening [--side 8192] [--changes 60] [--huge 40000]
`--changes 500` simulates the work of a day in one or two minutes. `--huge N` writes a tiled TIFF of N × N pixels; 0
skips it. Files are written to a temporary folder. The times hold for one machine only.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen" if "DISPLAY" not in os.environ else "xcb")

import numpy as np
import psutil
import tifffile
from PySide6.QtWidgets import QApplication

from tests.benchmarks.canvas_driver import Measured, surface
from workbench.core.project.project import Project
from workbench.inference.io.image_io import read_image
from workbench.inference.io.opencv import cv2
from workbench.session.session import Session


class Opening:
    """Session and canvas on a project in `root`."""

    def __init__(self, root: Path) -> None:
        self.session = Session()
        self.canvas = Measured(self.session)
        self.canvas.resize(1280, 800)
        self.canvas.show()
        self.previewed = False
        self.session.image_loader.previewed.connect(self._preview)
        self.session.open_project(root)
        self.until(lambda: bool(self.session.keys))

    def _preview(self, _key: str, small: np.ndarray, size: tuple[int, int]) -> None:
        self.canvas.scene.show_preview(small, size)
        self.previewed = True

    @staticmethod
    def until(met_aim: Callable[[], bool]) -> None:
        while not met_aim():
            QApplication.processEvents()

    def open(self, key: str) -> tuple[float | None, float]:
        """Return the milliseconds to the first painted frame of a preview, if any, and to that of the full image."""
        self.previewed, first = False, None
        start_time = time.perf_counter()
        self.session.open_image(key)
        while self.session.key != key or self.session.image is None:
            QApplication.processEvents()
            if self.previewed and first is None:
                QApplication.processEvents()
                first = (time.perf_counter() - start_time) * 1e3
        frames = self.canvas.frames
        self.canvas.update()
        self.until(lambda: self.canvas.frames > frames)
        return first, (time.perf_counter() - start_time) * 1e3

    def rest(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        self.until(lambda: time.perf_counter() > end)

    def close(self) -> None:
        self.session.close_project()
        self.canvas.end()
        self.canvas.close()


def memory() -> float:
    """Return the memory of this process in megabytes."""
    return psutil.Process().memory_info().rss / 2**20


def jpegs(folder: Path, side: int) -> None:
    print(f"gray JPEG of {side}²")
    done, data = cv2.imencode(".jpg", surface(side), [cv2.IMWRITE_JPEG_QUALITY, 90])
    for i in range(6):
        (folder / "pictures" / f"{i}.jpg").write_bytes(data.tobytes())
    start_time = time.perf_counter()
    read_image(folder / "pictures" / "0.jpg")
    print(f"  decoded alone                 {(time.perf_counter() - start_time) * 1e3:8.0f} ms")
    opening = Opening(folder)
    for i in (0, 3):
        first, exact = opening.open(f"{i}.jpg")
        early = f"{first:8.0f} ms" if first is not None else "none"
        print(f"  first view {early}, exact {exact:8.0f} ms")
    opening.rest(3)
    for i in (4, 5):
        print(f"  a neighbour, read ahead: {opening.open(f'{i}.jpg')[1]:8.1f} ms")
        opening.rest(2)
    opening.close()


def changes(folder: Path, count: int) -> None:
    for i in range(24):
        cv2.imwrite(str(folder / "pictures" / f"{i:02}.png"), surface(2048) + np.uint8(i))
    opening = Opening(folder)
    first = 0.0
    for i in range(count):
        opening.open(f"{i % 24:02}.png")
        if i == min(30, count // 2):
            first = memory()
    print(f"memory after {min(30, count // 2) + 1} changes {first:.0f} MB, after {count} {memory():.0f} MB")
    opening.close()


def tiffs(folder: Path) -> None:
    gray = surface(2048)
    kinds = {
        "16 bit": (gray.astype(np.uint16) * 200, {}),
        "float": (gray.astype(np.float32) / 255, {}),
        "big-endian": (gray.astype(np.uint16) * 200, {"byteorder": ">"}),
        "tiled, deflate": (gray, {"tile": (256, 256), "compression": "zlib"}),
        "BigTIFF": (gray, {"bigtiff": True}),
        "three pages": (np.stack([gray] * 3), {"photometric": "minisblack"}),
    }
    for name, (picture, options) in kinds.items():
        path = folder / "kind.tif"
        tifffile.imwrite(path, picture, **options)
        start_time = time.perf_counter()
        found = read_image(path)
        took = (time.perf_counter() - start_time) * 1e3
        same = np.array_equal(found, picture[0] if picture.ndim == 3 else picture)
        print(f"TIFF 2048² {name:15} {took:8.1f} ms  {'equal' if same else 'DIFFERENT'}")


def huge(folder: Path, side: int) -> None:
    edge = 512
    tile = surface(edge)

    def tiles() -> Iterator[np.ndarray]:
        for i in range((-(-side // edge)) ** 2):
            yield tile // 2 + np.uint8(i % 90)

    tifffile.imwrite(
        folder / "pictures" / "huge.tif",
        tiles(),
        shape=(side, side),
        dtype=np.uint8,
        tile=(edge, edge),
        compression="zlib",
        compressionargs={"level": 1},
        bigtiff=True,
    )
    before = memory()
    opening = Opening(folder)
    _, exact = opening.open("huge.tif")
    picture = opening.session.image
    print(f"tiled TIFF of {side}²: on the screen after {exact:.0f} ms", end=", ")
    print(f"{picture.decoded} of its tiles decoded, {memory() - before:.0f} MB more")
    for zoom in (1.0, 0.3, 0.1):
        times = []
        for i in range(12):
            opening.canvas.set_view(opening.canvas.view.at_scale(zoom).centered(side / 2 + 900 * i, side / 3))
            start_time = time.perf_counter()
            QApplication.processEvents()
            times.append((time.perf_counter() - start_time) * 1e3)
        print(f"  somewhere new at {zoom:4}: {np.median(times):6.1f} ms a frame, at most {max(times):.1f}")
    print(f"  memory {memory() - before:.0f} MB more")
    opening.session.open_image("")  # the overview need not be finished
    opening.canvas.scene.show_image(None)
    opening.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--huge", type=int, default=20_000)
    args = parser.parse_args()
    app = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory() as place:
        for name, measure in (
            ("jpegs", lambda root: jpegs(root, args.side)),
            ("changes", lambda root: changes(root, args.changes)),
            ("tiffs", tiffs),
            ("huge", lambda root: huge(root, args.huge) if args.huge else None),
        ):
            root = Path(place) / name
            Project.create(root, classes=["scratch"]).close()
            measure(root)
    app.processEvents()


if __name__ == "__main__":
    main()
