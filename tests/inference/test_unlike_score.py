"""Unlike score: distance from the training images in the features of the network."""

from __future__ import annotations

import json
from dataclasses import replace

import cv2
import numpy as np
import paddle
import pytest

from tests.inference.conftest import gray_settings, spotted
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.inference.batch.export_package import self_test, write_reference_results
from workbench.inference.input_guard import _MEASURES, InputLimits
from workbench.inference.io.image_io import write_png
from workbench.inference.known_features import KnownFeatures
from workbench.inference.model_settings import SettingsError, load_settings, save_settings, settings_from_json
from workbench.inference.predictor import Predictor
from workbench.training.feature_learning import fit_features, learn_features
from workbench.training.networks import UNet
from workbench.training.onnx_graph import stage_widths, to_onnx

STRIPES = np.tile(np.repeat(np.array([40, 215], np.uint8), 3), (150, 39))[:, :230]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Predictor:
    """UNet with random weights that knows 30 images with spots."""
    paddle.seed(0)
    net = UNet(1, 3, (8, 16, 16), stem=2)
    net.eval()
    folder = tmp_path_factory.mktemp("model")
    (folder / "network.onnx").write_bytes(to_onnx(net, 1, None, features=True).SerializeToString())
    save_settings(gray_settings(multiple=8, tile=128, overlap=32), folder / "model.json")
    predictor = Predictor.open(folder, engine="onnx")
    cells = [predictor.features(spotted(np.random.default_rng(seed))) for seed in range(30)]
    predictor.settings = replace(
        predictor.settings, unlike=fit_features(cells, [f"{n}" for n in range(30)], stage_widths(net))
    )
    save_settings(predictor.settings, folder / "model.json")
    return Predictor.open(folder, engine="onnx")


def test_images_of_other_parts_are_known_and_another_texture_is_not(model):
    scores = [model.predict(spotted(np.random.default_rng(seed))).input.unlike for seed in range(100, 120)]
    assert np.mean(np.array(scores) > 1) <= 0.1
    found = model.predict(STRIPES).input
    assert found.unlike > 1 and not found.ok and found.why[0].startswith("unlike score")


def test_something_foreign_in_one_place_is_found_there(model):
    image = spotted(np.random.default_rng(200))
    image[80:120, 150:190] = np.kron(np.random.default_rng(0).integers(0, 2, (20, 20)), np.full((2, 2), 255))
    why = model.predict(image).input.why[0]
    x, y = (int(part.split()[1].rstrip(",")) for part in why.split("near ")[1].split(", "))
    assert 140 < x < 200 and 70 < y < 130


def test_the_score_is_nearly_equal_in_one_tile_and_in_many(model):
    image = cv2.resize(STRIPES, (300, 280))  # cells at the rim of a tile know less of their surroundings
    whole = Predictor(replace(model.settings, tile=512), model.engine)
    assert model.predict(image).input.unlike == pytest.approx(whole.predict(image).input.unlike, rel=0.2)


@pytest.mark.parametrize(("parts", "known"), [(4, False), (5, True)])
def test_a_model_of_few_parts_has_no_score(model, tmp_path, parts, known):
    with Project.create(tmp_path / "project") as project:
        items = []
        for number in range(10):
            items.append(Item(key=f"{number}.png", group=f"{number % parts}", width=200, height=150))
            write_png(project.image_path(items[-1].key), spotted(np.random.default_rng(number)))
        found = learn_features(project, Dataset(model="unet", items=items), model, [8, 16, 16])
    assert (found is not None) == known and (found is None or found.parts == parts)


def test_without_features_there_is_no_score(model):
    plain = Predictor(model.settings, lambda batch: model.engine(batch))
    assert plain.predict(STRIPES).input is None


def test_references_are_reproduced_by_an_engine_without_features(model, tmp_path):
    usual = dict.fromkeys(_MEASURES, (0.0, 1e6))
    settings = replace(model.settings, input=InputLimits(30, 30, "uint8", 255.0, 0.0, usual))
    write_png(tmp_path / "stripes.png", STRIPES)
    write_reference_results(tmp_path, Predictor(settings, model.engine), [("stripes", tmp_path / "stripes.png")])
    plain = Predictor(settings, lambda batch: model.engine(batch))
    assert plain.predict(STRIPES).verdict is None
    assert json.loads((tmp_path / "golden" / "1.json").read_text())["verdict"] == "unsure"
    assert self_test(tmp_path, plain) == self_test(tmp_path, Predictor(settings, model.engine)) == []


def test_settings_with_features_are_stored_and_checked(model, tmp_path):
    save_settings(model.settings, tmp_path / "model.json")
    assert load_settings(tmp_path / "model.json") == model.settings
    content = {"task": "segmentation", "name": "x", "format": 1, "classes": [], "unlike": {"images": 1}}
    with pytest.raises(SettingsError, match="unlike cannot be used"):
        settings_from_json(content)
    known = model.settings.unlike
    for changed in ({"limit": 0}, {"center": "AAAA"}, {"vectors": "?"}, {"scale": known.image.vectors}):
        with pytest.raises(ValueError):
            replace(known.image, **changed)
    with pytest.raises(ValueError):
        KnownFeatures.from_json({"images": 1})
