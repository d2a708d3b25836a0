"""Large images: no seams between tiles, and memory bounded by the size of a tile."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile

from tests.inference.conftest import BRIGHT, gray_settings
from workbench.inference import components, tiles
from workbench.inference.io.image_io import read_image
from workbench.inference.io.tiff_regions import TiffImage
from workbench.inference.predictor import Predictor
from workbench.inference.regions import drop_small, find_regions, most_certain_regions

SETTINGS = gray_settings(
    classes=(BRIGHT,), thresholds=(0.5,), min_area=(4,), mean=(0.0,), std=(1.0,), tile=512, overlap=64, multiple=32
)


class Coarse:
    """Network that computes on cells of 8 x 8 pixels and their neighbors, like the lowest level of a UNet.

    Its result depends on the position of the cells, and near the border of a tile on pixels outside of the tile.
    """

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        self.calls += 1
        n, _, height, width = batch.shape
        cells = batch[:, 0].reshape(n, height // 8, 8, width // 8, 8).mean(axis=(2, 4))
        around = np.pad(cells, ((0, 0), (1, 1), (1, 1)))
        rows, columns = cells.shape[1:]
        mean = sum(around[:, y : y + rows, x : x + columns] for y in range(3) for x in range(3)) / 9
        wide = np.repeat(np.repeat(mean, 8, axis=1), 8, axis=2)
        bright = 1 / (1 + np.exp(-20 * (batch[:, 0] - wide)))
        return np.stack([1 - bright, bright], axis=1).astype(np.float32)


@pytest.mark.parametrize("size", [pytest.param((3000, 3000), marks=pytest.mark.slow), (2977, 1531), (700, 513)])
def test_tiles_give_what_the_whole_image_gives(size):
    image = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    whole = Predictor(replace(SETTINGS, tile=3008, overlap=0), Coarse()).probabilities(image)
    engine = Coarse()
    tiled = Predictor(SETTINGS, engine).probabilities(image)
    assert engine.calls > 1
    assert np.abs(tiled - whole).max() < 1e-4  # of a probability; a seam differs by tenths


def test_tiles_are_lower_if_a_row_of_them_needs_too_much_memory(monkeypatch):
    """Tiles of wide images with many classes are lower; the result is the same."""
    image = np.random.default_rng(0).integers(0, 256, (900, 1400), dtype=np.uint8)
    whole = Predictor(replace(SETTINGS, tile=1408, overlap=0), Coarse()).probabilities(image)
    monkeypatch.setattr(tiles, "MAX_PENDING_BYTES", 300 * 1400 * 4)
    requests: list[tuple[int, ...]] = []

    class RecordingEngine(Coarse):
        def __call__(self, batch: np.ndarray) -> np.ndarray:
            requests.append(batch.shape[2:])
            return super().__call__(batch)

    tiled = Predictor(SETTINGS, RecordingEngine()).probabilities(image)
    assert set(requests) == {(288, 512)}
    assert np.abs(tiled - whole).max() < 1e-4


def test_an_image_of_one_tile_is_not_divided_for_many_classes(monkeypatch):
    monkeypatch.setattr(tiles, "MAX_PENDING_BYTES", 1000)
    engine = Coarse()
    Predictor(SETTINGS, engine).probabilities(np.zeros((500, 512), np.uint8))
    assert engine.calls == 1


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_very_large_tiff_is_predicted_by_region(tmp_path, monkeypatch, scale):
    """It is read tile by tile if it is not resized, never as a whole."""
    image = np.random.default_rng(0).integers(0, 256, (1500, 1100), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", image, tile=(128, 128))
    reads: list[int] = []
    read = TiffImage._read

    def recorded(self, top, left, bottom, right, **options):
        reads.append((bottom - top) * (right - left))
        return read(self, top, left, bottom, right, **options)

    monkeypatch.setattr(TiffImage, "_read", recorded)
    by_region = TiffImage(tmp_path / "a.tif")
    predictor = Predictor(replace(SETTINGS, scale=scale), Coarse())
    found, expected = predictor.predict(by_region), predictor.predict(image)
    assert np.array_equal(found.mask, expected.mask) and np.array_equal(found.scores, expected.scores)
    assert (max(reads) < image.size // 4) == (scale == 1.0)
    by_region.close()


def test_tiles_off_the_grid_of_the_network_differ():
    """Check that the test above can fail: the cells of the same network are shifted."""
    image = np.random.default_rng(0).integers(0, 256, (600, 600), dtype=np.uint8)
    whole = Predictor(replace(SETTINGS, tile=640, overlap=0), Coarse()).probabilities(image)
    shifted = Predictor(replace(SETTINGS, tile=640, overlap=0), Coarse()).probabilities(image[3:, 3:])
    assert np.abs(whole[:, 3:, 3:] - shifted).max() > 0.1


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.45, 0.6, 1.0])
def test_components_found_by_bands_equal_those_of_the_whole(rows, share, monkeypatch):
    """Spirals, rings and single pixels cross the borders of bands many times."""
    rng = np.random.default_rng(rows)
    mask = (rng.random((40, 53)) < share).astype(np.uint8) * rng.choice([3, 7], (40, 53), p=[0.2, 0.8]).astype(np.uint8)
    mask[5:35, 8], mask[5, 8:40], mask[34, 8:40], mask[5:30, 40] = 7, 7, 7, 7
    scores = rng.integers(0, 256, mask.shape, dtype=np.uint8)
    settings = gray_settings()
    least = {3: 2, 7: 30}
    whole, without = find_regions(mask, scores, settings), drop_small(mask, least)
    large = find_regions(without, scores, settings)
    monkeypatch.setattr(components, "MAX_BAND_PIXELS", 53 * rows)
    assert find_regions(mask, scores, settings) == whole
    np.testing.assert_array_equal(drop_small(mask, least), without)
    assert (without != mask).any()
    assert most_certain_regions(mask, scores, settings, None, least=least) == (
        large,
        0,
    )  # removed by the minimum area
    np.testing.assert_array_equal(mask, without)


_CHILD = """
import sys, numpy as np
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.inference.batch.test_large_images import SETTINGS
from workbench.inference.predictor import Predictor

def bright(batch):
    chance = np.clip(batch[:, 0], 0, 1)
    return np.stack([1 - chance, chance], axis=1)

def most():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

side = int(sys.argv[2])
Predictor(SETTINGS, bright).predict(np.zeros((600, 600), np.uint8))
picture = np.zeros((side, side), np.uint8)
picture[5:side:9, 5:side:9] = 255  # specks everywhere, as a young network finds them: too small to be regions
picture[40:side:500, :] = 255
before = most()
result = Predictor(SETTINGS, bright).predict(picture)
print(len(result.regions), before, most())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory a process has held is read from /proc")
@pytest.mark.slow
def test_memory_beside_the_image_and_its_result_is_bounded():
    """20,000 x 20,000 pixels with mask and scores must fit into 2 GB: three bytes a pixel, and little more."""
    root = str(Path(__file__).resolve().parents[3])
    grown = {}
    for side in (2000, 8000):
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, root, str(side)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        regions, before, most = map(float, done.stdout.split())
        assert regions == side // 500
        grown[side] = most - before
    a_pixel = (grown[8000] - grown[2000]) * 2**20 / (8000**2 - 2000**2)
    assert a_pixel < 4, grown


_WHOLE_PROGRAM = """
import sys, numpy as np
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.inference.batch.test_large_images import SETTINGS
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.batch.input_paths import InputSource
from workbench.inference.predictor import Predictor
from workbench.inference.io.image_io import write_png

def bright(batch):
    chance = np.clip(batch[:, 0], 0, 1)
    return np.stack([1 - chance, chance], axis=1)

def most():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

place, side = Path(sys.argv[2]), int(sys.argv[3])
for size in (600, side):
    picture = np.zeros((size, size), np.uint8)
    picture[5:size:97, 5:size:89] = 255
    picture[40:size:500, :] = 255
    write_png(place / f"{size}.png", picture)
    del picture
    before = most()
    with ResultsFolder(place / f"out {size}", Predictor(SETTINGS, bright)) as folder:
        assert predict_all(folder, [InputSource(place / f"{size}.png", place, Path(f"{size}.png"))])
print(before, most())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory a process has held is read from /proc")
def test_memory_from_the_file_to_mask_and_overlay_is_bounded(tmp_path):
    """The image, its mask and its scores are three bytes a pixel; an overlay as a whole would be three more."""
    root, side = str(Path(__file__).resolve().parents[3]), 6400
    done = subprocess.run(
        [sys.executable, "-c", _WHOLE_PROGRAM, root, str(tmp_path), str(side)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    before, most = map(float, done.stdout.split())
    assert most - before < 4.2 * side**2 / 2**20, (before, most)
    shown = read_image(tmp_path / f"out {side}" / "overlays" / f"{side}.png")
    assert shown.shape == (side, side, 3) and shown[40, 7].tolist() == list(bytes.fromhex(BRIGHT.color[1:]))
