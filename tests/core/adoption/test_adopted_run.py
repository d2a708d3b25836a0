"""Adoption of foreign networks: all kinds of output and layouts predict the same masks; refusals are sentences."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from onnx import TensorProto

from tests.conftest import scratched
from tests.core.adoption.toy_networks import toy_network
from workbench.core import problems
from workbench.core.adoption.adopted_run import adopt, refresh_dataset
from workbench.core.adoption.network_file import AdoptionOptions
from workbench.core.evaluation.split_evaluation import evaluate_run
from workbench.core.project import annotation
from workbench.core.runs.run import create_run, default_run, find_run, list_runs
from workbench.core.runs.run_history import run_line
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings
from workbench.inference.predictor import Predictor

OPTIONS = AdoptionOptions(classes=("scratch",), size=64, stride=8)


def predicted(run, image) -> np.ndarray:
    mask = Predictor.open(run.best).predict(image).mask
    assert mask is not None
    return mask


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("output", ["softmax", "logits", "sigmoid", "sigmoid-logits", "one-channel", "labels"])
def test_outputs_and_layouts_give_the_labels(project, tmp_path, output, layout):
    """The image needs several tiles, the last of them mirrored beyond the border."""
    path = toy_network(tmp_path / "net.onnx", output, layout=layout, channels=3, mean=0.4, std=0.2)
    run = adopt(project, path, dataclasses.replace(OPTIONS, output=output, mean=(0.4,), std=(0.2,)))
    image, truth = scratched(np.random.default_rng(3), defects=2)
    mask = predicted(run, np.repeat(image[..., None], 3, axis=2))
    assert np.array_equal(mask > 0, image < 0.45 * 255) and (mask[truth > 0] > 0).mean() > 0.9
    settings = load_settings(run.best / "model.json")
    assert (settings.tile, settings.multiple, settings.channels, settings.batch) == (64, 8, 3, 256)
    assert run.usable and run.adopted and not run.resumable and run_line(run).ended == "done"


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_fixed_size_and_batch(project, tmp_path, layout):
    """A network for one image of 48 pixels predicts images of any size in tiles of 48."""
    path = toy_network(tmp_path / "net.onnx", layout=layout, size=(48, 48), batch=1)
    run = adopt(project, path, OPTIONS)
    image, _ = scratched(np.random.default_rng(1))
    assert np.array_equal(predicted(run, image) > 0, image < 0.45 * 255)
    small = image[:20, :30]
    assert np.array_equal(predicted(run, small) > 0, small < 0.45 * 255)
    settings = load_settings(run.best / "model.json")
    assert (settings.tile, settings.multiple, settings.batch) == (48, 48, 1)


def test_size_that_is_declared_as_free_and_is_not(project, tmp_path):
    """Nodes for 64 pixels behind an input of any size: every tile has 64 pixels, one at a time."""
    run = adopt(project, toy_network(tmp_path / "net.onnx", baked=64), OPTIONS)
    settings = load_settings(run.best / "model.json")
    assert (settings.tile, settings.multiple, settings.batch) == (64, 64, 1)
    image, _ = scratched(np.random.default_rng(1))
    assert np.array_equal(predicted(run, image) > 0, image < 0.45 * 255)
    with pytest.raises(
        problems.ModelFileRefused, match="does not accept an image of 128x128 pixels with 1 value per pixel"
    ):
        adopt(project, toy_network(tmp_path / "net.onnx", baked=64), dataclasses.replace(OPTIONS, size=128))


def test_colors_in_the_order_of_the_network(project, tmp_path):
    """A network for blue, green, red that uses its third channel; mean and deviation are in that order as well."""
    path = toy_network(tmp_path / "net.onnx", channels=3, only_channel=2, mean=0.3, std=0.5)
    options = dataclasses.replace(OPTIONS, bgr=True, white=255.0, mean=(1, 2, 0.3 * 255), std=(9, 8, 0.5 * 255))
    image = np.full((32, 32, 3), 200, np.uint8)
    image[4:9, 4:9, 0] = 20  # red
    image[20:24, 4:9, 2] = 20  # blue
    assert np.argwhere(predicted(adopt(project, path, options), image)).tolist() == [
        [y, x] for y in range(4, 9) for x in range(4, 9)
    ]


@pytest.mark.parametrize("type", [TensorProto.FLOAT16, TensorProto.UINT8])
def test_number_types(project, tmp_path, type):
    white = 255.0 if type == TensorProto.UINT8 else 1.0
    path = toy_network(tmp_path / "net.onnx", type=type, std=1 / white)
    run = adopt(project, path, dataclasses.replace(OPTIONS, white=white))
    image, _ = scratched(np.random.default_rng(1))
    clear = np.abs(image - 0.45 * 255) > 1
    assert np.array_equal(predicted(run, image)[clear] > 0, image[clear] < 0.45 * 255)


def test_smaller_output_is_enlarged(project, tmp_path):
    path = toy_network(tmp_path / "net.onnx", "logits", reduce=4)
    image = np.full((64, 64), 200, np.uint8)
    image[16:32, 16:48] = 20
    mask = predicted(adopt(project, path, dataclasses.replace(OPTIONS, output="logits")), image)
    assert (mask[18:30, 18:46] == 1).all() and not mask[:12].any() and not mask[36:].any()


@pytest.mark.parametrize("output", ["softmax", "sigmoid", "labels"])
def test_unused_classes_are_background(project, tmp_path, output):
    path = toy_network(tmp_path / "net.onnx", output, classes=3)
    image, _ = scratched(np.random.default_rng(1))
    dark = image < 0.45 * 255
    run = adopt(project, path, dataclasses.replace(OPTIONS, output=output, classes=("scratch", "-", "dent")))
    assert [info.name for info in project.classes] == ["scratch", "dent"]
    assert np.array_equal(predicted(run, image) == 1, dark)
    probabilities = Predictor.open(run.best).probabilities(image)
    assert probabilities.shape[0] == 3 and (probabilities[0][~dark] > 0.5).all()
    run = adopt(project, path, dataclasses.replace(OPTIONS, output=output, classes=("-", "scratch", "dent")))
    assert not predicted(run, image).any()


def test_one_of_several_outputs(project, tmp_path):
    path = toy_network(tmp_path / "net.onnx", outputs=2)
    run = adopt(project, path, dataclasses.replace(OPTIONS, output_name="result"))
    image, _ = scratched(np.random.default_rng(1))
    assert np.array_equal(predicted(run, image) > 0, image < 0.45 * 255)


def test_old_operators_are_converted(project, tmp_path):
    path = toy_network(tmp_path / "net.onnx", "sigmoid", opset=11)
    run = adopt(project, path, dataclasses.replace(OPTIONS, output="sigmoid"))
    image, _ = scratched(np.random.default_rng(1))
    assert np.array_equal(predicted(run, image) > 0, image < 0.45 * 255)


@pytest.mark.parametrize(
    ("network", "options", "why"),
    [
        ({"classes": 3}, {}, "has 4 channels, and the output softmax needs 2 for the background and the named classes"),
        (
            {"output": "sigmoid", "classes": 2},
            {"output": "sigmoid"},
            "has 2 channels, and the output sigmoid needs 1 for the named classes",
        ),
        ({"inputs": 2}, {}, "the network has 2 inputs (image, extra1)"),
        ({"outputs": 2}, {}, "the network has 2 outputs (result, side1); choose one of them"),
        ({}, {"output_name": "mask"}, "the network has no output mask, but result"),
        ({"channels": 4}, {}, "the input of the network has 4 channels"),
        ({"layout": "nhwc"}, {"layout": "nchw"}, "the layout of the input is nhwc, not nchw"),
        ({"size": (32, 64)}, {}, "has the fixed size 64x32 pixels"),
        ({"size": (32, None)}, {}, "has the fixed size ?x32 pixels"),
        ({"batch": 4}, {}, "a batch of 4 images"),
        ({"type": TensorProto.INT32}, {}, "the number type INT32"),
        ({}, {"mean": (0.1, 0.2, 0.3)}, "has one channel, and the options describe three"),
        ({"output": "logits"}, {}, "which are not probabilities; the output may be logits"),
        ({}, {"output": "logits"}, "it is softmax instead of logits"),
        ({"output": "sigmoid", "classes": 2}, {}, "do not add up to 1"),
        ({"output": "sigmoid"}, {"output": "labels"}, "which are not the numbers 0 to 1 of classes"),
    ],
)
def test_unsuitable_networks_are_refused(project, tmp_path, network, options, why):
    path = toy_network(tmp_path / "net.onnx", **network)
    with pytest.raises(problems.ModelFileRefused) as caught:
        adopt(project, path, dataclasses.replace(OPTIONS, **options))
    assert why in str(caught.value) and str(caught.value).startswith(f"{path} cannot be added as a model: ")
    assert not list_runs(project.root)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), b'{"ir": 1}', b"\x08\x08"])
def test_other_files_are_refused(project, tmp_path, content):
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    with pytest.raises(problems.ModelFileRefused, match="it holds no ONNX network"):
        adopt(project, path, OPTIONS)
    with pytest.raises(problems.ModelFileRefused, match="the file does not exist"):
        adopt(project, tmp_path / "none.onnx", OPTIONS)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"classes": ()}, "classes"),
        ({"classes": ("scratch", "scratch")}, "classes"),
        ({"classes": ("scratch", " Scratch")}, "classes"),
        ({"classes": ("a", "b"), "output": "one-channel"}, "classes"),
        ({"mean": (0.1, 0.2)}, "mean"),
        ({"mean": (123.0,)}, "mean"),
        ({"std": (0.0,)}, "std"),
        ({"size": 60}, "size"),
        ({"stride": 0}, "stride"),
        ({"output": "argmax"}, "output"),
    ],
)
def test_impossible_options_are_refused(project, tmp_path, options, key):
    path = toy_network(tmp_path / "net.onnx", classes=len(options.get("classes", "1")) or 1)
    with pytest.raises(problems.BadSettings) as caught:
        adopt(project, path, dataclasses.replace(OPTIONS, **options))
    assert caught.value.fields["key"] == key
    assert not list_runs(project.root) and [info.name for info in project.classes] == ["scratch"]


def test_evaluation_uses_the_present_labels(labeled_project, tmp_path):
    """All labeled images are test images, also those labeled after the adoption."""
    run = adopt(labeled_project, toy_network(tmp_path / "net.onnx"), OPTIONS)
    assert {item.split for item in run.dataset().items} == {"test"} and len(run.dataset().items) == 16
    image, mask = scratched(np.random.default_rng(9))
    write_png(labeled_project.image_path("new.png"), image)
    annotation.save_mask(labeled_project, "new.png", mask)
    refresh_dataset(labeled_project, run)
    assert len(run.dataset().of("test")) == 17
    result = evaluate_run(labeled_project, run, "test", progress=lambda done, total: None)
    assert result is not None and len(result.passed.predictions) == 17 and not result.leaks


def test_adopted_run_among_others(labeled_project, tmp_path):
    """It is found by name and used for prediction; training does not start from it."""
    path = toy_network(tmp_path / "net.onnx")
    run = adopt(labeled_project, path, OPTIONS)
    assert find_run(labeled_project.root, "best").name == run.name == find_run(labeled_project.root, "last").name
    found = default_run(labeled_project.root)
    assert found is not None and found.name == run.name
    origin = json.loads(run.adopted_path.read_text("utf-8"))
    assert origin["file"] == "net.onnx" and origin["options"]["classes"] == ["scratch"]
    with pytest.raises(problems.RunComplete, match="without weights for training, so no training can start from it"):
        create_run(labeled_project, request("unet", start_from=run.name))
    assert [entry.name for entry in list_runs(labeled_project.root)] == [run.name]
