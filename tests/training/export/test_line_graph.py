"""The self-contained ONNX model computes what the application's inference does, with operators of all engines."""

from __future__ import annotations

import dataclasses
import re
from functools import cache

import cv2
import numpy as np
import onnx
import onnxruntime
import paddle
import pytest

from workbench.inference.engines.feature_engine import FunctionEngine
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import ANY_CLASS, RegionLimit
from workbench.inference.verdict_rule import VerdictRule
from workbench.training import onnx_graph
from workbench.training.encoders import ResNet
from workbench.training.export.export_metadata import line_metadata
from workbench.training.export.layouts import facts
from workbench.training.export.line_export import LineModel, fit_image
from workbench.training.export.line_graph import LineModelRefused, line_model, pixel_type, plan_resize
from workbench.training.export.parity import compare, compare_line
from workbench.training.feature_learning import fit_features
from workbench.training.networks import UNet

SEGMENTATION = ModelSettings(
    task="segmentation",
    name="n",
    classes=(ClassSettings(3, "scratch", "#ff0000"), ClassSettings(7, "pit", "#00ff00")),
    thresholds=(0.34, 0.36),
    min_area=(0, 30),
    tile=64,
    overlap=16,
    multiple=16,
    low=20,
    high=230,
    mean=(0.4,),
    std=(0.1,),
)
VERDICTS = ModelSettings(
    task="classification",
    name="n",
    verdicts=("good", "bad", "worse"),
    mean=(0.4,),
    std=(0.1,),
    input_size=64,
    temperature=1.7,
    unsure=0.2,
)
AREA = InspectionArea(
    64, 64, (AreaPolygon(((8, 5), (60, 12.5), (40, 60))), AreaPolygon(((20, 20), (30, 20), (30, 30)), True))
)
CASES = {
    "one tile": (SEGMENTATION, {}, (64, 64)),
    "mirrored beyond its border": (SEGMENTATION, {}, (50, 61)),
    "several tiles": (SEGMENTATION, {}, (200, 150)),
    "mirrored passes of tiles": (SEGMENTATION, {"mirrored": ("left_right", "both")}, (70, 100)),
    "half the size": (SEGMENTATION, {"scale": 0.5}, (200, 150)),
    "a quarter of the size": (SEGMENTATION, {"scale": 0.25}, (201, 151)),
    "16 bits, reduced": (SEGMENTATION, {"scale": 0.5, "full_scale": 65535, "low": 900, "high": 6e4}, (121, 99)),
    "inspection area": (SEGMENTATION, {"areas": (AREA,)}, (120, 90)),
    "verdict in an inspection area": (VERDICTS, {"areas": (AREA,)}, (200, 300)),
    "color": (SEGMENTATION, {"channels": 3, "mean": (0.4, 0.5, 0.3), "std": (0.1, 0.2, 0.1)}, (70, 70)),
    "verdict": (VERDICTS, {}, (64, 64)),
    "verdict of a larger image": (VERDICTS, {"mirrored": ("left_right",)}, (200, 300)),
    "unsure verdict": (VERDICTS, {"unsure": 0.9}, (128, 64)),
    "verdict of a color image": (VERDICTS, {"channels": 3, "mean": (0.4,) * 3, "std": (0.1,) * 3}, (90, 64)),
}


def network(settings: ModelSettings) -> onnx.ModelProto:
    return _network(settings.task, settings.channels)


@cache
def _network(task: str, channels: int, *, features: bool = False) -> onnx.ModelProto:
    paddle.seed(5)
    if task == "segmentation":
        net, side = UNet(channels, 3, [8, 16, 24], stem=4), None
    else:
        net, side = ResNet(channels, 3, depth=18, width=0.125, input_size=64), 64
    net.eval()
    return onnx_graph.to_onnx(net, channels, side, features=features)


def engine(model: onnx.ModelProto):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda batch: session.run(None, {"picture": batch})[0]


def picture(settings: ModelSettings, shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    kind = pixel_type(settings)
    size = (*shape, 3) if settings.channels == 3 else shape
    noise = np.random.default_rng(seed).integers(0, np.iinfo(kind).max, size, endpoint=True)
    image = cv2.GaussianBlur(noise.astype(kind), (0, 0), 3)
    image[5:20, 5:30] = np.iinfo(kind).max
    return image


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Settings, predictor of the application, line model and an image of its size."""
    settings, changes, shape = CASES[request.param]
    settings = dataclasses.replace(settings, **changes)
    net = network(settings)
    return settings, Predictor(settings, engine(net)), line_model(settings, net, shape), picture(settings, shape)


@pytest.mark.parametrize(
    "name",
    [
        *("mirrored beyond its border", "mirrored passes of tiles", "half the size"),
        *("inspection area", "verdict in an inspection area", "verdict of a larger image"),
    ],
)
def test_line_model_gives_the_unlike_score_of_the_predictor(name):
    settings, changes, shape = CASES[name]
    settings = dataclasses.replace(settings, **changes)
    net = _network(settings.task, settings.channels, features=True)
    session = onnxruntime.InferenceSession(net.SerializeToString(), providers=["CPUExecutionProvider"])
    function = FunctionEngine(lambda batch: tuple(session.run(None, {"picture": batch})))
    cells = [Predictor(settings, function).features(picture(settings, shape, seed)) for seed in range(8)]
    known = fit_features(cells, [str(number) for number in range(8)], [cells[0].shape[1]])
    settings = dataclasses.replace(settings, unlike=known)
    line = LineModel(line_model(settings, net, shape).SerializeToString())
    checker = (np.indices(shape).sum(axis=0) // 4 % 2 * 180 + 40).astype(np.uint8)
    for image in (picture(settings, shape, 20), checker):
        score = Predictor(settings, function).predict(image).input.unlike
        assert line(image)["unlike"].tolist() == [pytest.approx(score, rel=2e-3, abs=1e-3)]
    assert score > 1  # of the other surface
    images = [("checker", lambda: checker)]
    found = compare_line(settings, function, line, images)
    assert found.passed and found.unlike is not None and found.unlike < 2e-3
    found = compare_line(settings, function, lambda image: {**line(image), "unlike": np.ones(1)}, images)
    assert "an unlike score differs by" in found.why
    twice = FunctionEngine(
        lambda batch: (lambda output, features: (output, 2 * features))(*function.with_features(batch))
    )
    found = compare(settings, function, {"same": function, "twice": twice}, images)
    assert found["same"].passed and found["same"].unlike == 0 and "unlike score" in found["twice"].why
    assert "unlike score" in compare(settings, function, {"int8": twice}, images)["int8"].why


def test_line_model_gives_the_results_of_the_predictor(case):
    settings, predictor, model, image = case
    outputs = LineModel(model.SerializeToString())(image)
    expected = predictor.predict(image)
    assert np.abs(outputs["probabilities"][0] - predictor.probabilities(image)).max() < 2e-5
    if settings.task == "classification":
        names = {index: name for index, name in enumerate(settings.verdicts)} | {-1: "unsure"}
        assert names[int(outputs["verdict"][0])] == expected.verdict
        return
    unfiltered = Predictor(dataclasses.replace(settings, min_area=(0, 0)), predictor.engine).predict(image)
    assert len(np.unique(unfiltered.mask)) > 1
    assert outputs["class_map"].dtype == np.uint8 and (outputs["class_map"][0] == unfiltered.mask).all()
    assert outputs["class_areas"].tolist() == [[np.count_nonzero(unfiltered.mask == id) for id in (3, 7)]]


@pytest.mark.parametrize(
    "case", ["mirrored passes of tiles", "16 bits, reduced", "color", "verdict of a larger image"], indirect=True
)
def test_openvino_gives_the_same_results(case):
    openvino = pytest.importorskip("openvino")
    _, predictor, model, image = case
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    outputs = compiled({0: image.reshape(compiled.input(0).shape)})
    here = LineModel(model.SerializeToString())(image)
    assert np.abs(outputs["probabilities"] - here["probabilities"]).max() < 1e-3
    first = "class_map" if "class_map" in here else "verdict"
    assert outputs[first].dtype == here[first].dtype and np.mean(outputs[first] == here[first]) > 0.999


def test_line_model_is_static_and_standard(case):
    """The published requirements of TwinCAT Machine Learning Server ("ONNX Support", Beckhoff Information System): a
    known opset, no dynamic shape, the batch size first, below 2 GB; names that a PLC can use as identifiers.
    """
    settings, _, model, image = case
    onnx.checker.check_model(model, full_check=True)
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 17)]
    assert (model.ir_version, model.producer_name) == (8, "defect-workbench")
    assert {node.domain for node in model.graph.node} == {""} and not model.functions
    assert model.ByteSize() < 2**31
    values = {value.name: value.type.tensor_type for value in (*model.graph.input, *model.graph.output)}
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) for name in values)
    kind = onnx.helper.tensor_dtype_to_np_dtype(values["image"].elem_type)
    sides = [dim.dim_value for dim in values["image"].shape.dim]
    assert kind == image.dtype and sides == [1, *image.shape[:2], settings.channels]
    values.update((value.name, value.type.tensor_type) for value in model.graph.value_info)
    for node in model.graph.node:
        assert node.name, "every node can be named in a message of an engine"
        for name in node.output:
            assert all(dim.HasField("dim_value") for dim in values[name].shape.dim), name
    assert all(values[output.name].shape.dim[0].dim_value == 1 for output in model.graph.output)
    beginnings = {node.name.partition("/")[0] for node in model.graph.node if "/" in node.name}
    assert beginnings == {"input", "network", "output"}


SIZES = [
    *[((512, 512), (256, 256)), ((512, 768), (128, 192)), ((600, 600), (200, 200)), ((600, 600), (100, 100))],
    *[((300, 400), (112, 112)), ((300, 512), (200, 256)), ((300, 240), (250, 200)), ((129, 129), (65, 65))],
    ((64, 100), (64, 37)),
]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize(("source", "target"), SIZES)
def test_reduction_has_the_bytes_of_opencv(source, target, kind):
    generator = np.random.default_rng(1)
    image = generator.integers(0, np.iinfo(kind).max, source, endpoint=True).astype(kind)
    plan = plan_resize(source, target)
    reduced = image.astype(np.float32)
    for taps, axis in ((plan.columns, 1), (plan.rows, 0)):
        parts = [
            reduced.take(indices, axis) * (weights if axis else weights[:, None])
            for indices, weights in zip(taps.indices, taps.weights)
        ]
        reduced = parts[0]
        for part in parts[1:]:
            reduced = reduced + part
    reduced = reduced * np.float32(plan.factor)
    reduced = np.floor(reduced + np.float32(0.5)) if plan.half_up else np.rint(reduced)
    assert (reduced.astype(kind) == cv2.resize(image, target[::-1], interpolation=cv2.INTER_AREA)).all()


@pytest.mark.parametrize(
    ("changes", "shape", "why"),
    [
        ({"full_scale": 1.0, "low": 0.0, "high": 1.0}, (64, 64), "line.number_type"),
        ({"scale": 2.0}, (64, 64), "line.enlarged"),
    ],
)
def test_refused_settings_have_a_reason(changes, shape, why):
    settings = dataclasses.replace(SEGMENTATION, **changes)
    with pytest.raises(LineModelRefused) as refusal:
        line_model(settings, network(SEGMENTATION), shape)
    assert refusal.value.args[0].id == why


def test_image_smaller_than_the_input_of_a_verdict_model_is_refused():
    with pytest.raises(LineModelRefused, match="64x64"):
        line_model(VERDICTS, network(VERDICTS), (50, 64))


def test_images_of_other_kinds_are_fitted():
    color = picture(dataclasses.replace(SEGMENTATION, channels=3, mean=(0,) * 3, std=(1,) * 3), (40, 90))
    fitted = fit_image(color, SEGMENTATION, (64, 64), last=True)
    gray = cv2.cvtColor(color, cv2.COLOR_RGB2GRAY)
    assert fitted.shape == (64, 64) and (fitted[:40] == gray[:, 26:]).all() and (fitted[40] == gray[39, 26:]).all()
    deep = dataclasses.replace(SEGMENTATION, full_scale=65535, high=60000)
    assert (fit_image(gray, deep, (40, 90)) == gray.astype(np.uint16) * 257).all()
    assert (fit_image(gray.astype(np.uint16) * 257, SEGMENTATION, (40, 90)) == gray).all()
    assert (fit_image(gray.astype(np.float32) / 255, SEGMENTATION, (40, 90)) == gray).all()
    assert fit_image(gray, VERDICTS, (64, 64)).shape == (64, 64)


# --- parity gate --------------------------------------------------------------------------------------


def changed(name, change):
    """Line model with one output changed."""
    line = LineModel(line_model(SEGMENTATION, network(SEGMENTATION), (96, 96)).SerializeToString())
    return lambda image: {**(outputs := line(image)), name: change(outputs[name])}


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("probabilities", lambda values: values, ""),
        ("probabilities", lambda values: values + np.float32(3e-4), "parity.probability"),
        ("class_map", lambda values: values * (np.arange(96) > 40), "parity.cannot_run"),
        ("class_areas", lambda values: values + 1, "parity.cannot_run"),
    ],
)
def test_gate_refuses_differing_outputs(name, change, why):
    image = picture(SEGMENTATION, (96, 96))
    reference = engine(network(SEGMENTATION))
    found = compare_line(SEGMENTATION, reference, changed(name, change), [("a", lambda: image)])
    assert getattr(found.why, "id", "") == why and found.passed == (not why)


def test_gate_refuses_a_class_map_of_another_threshold():
    image = picture(SEGMENTATION, (96, 96))
    other = dataclasses.replace(SEGMENTATION, thresholds=(0.3, 0.4))
    line = LineModel(line_model(other, network(SEGMENTATION), (96, 96)).SerializeToString())
    found = compare_line(SEGMENTATION, engine(network(SEGMENTATION)), line, [("a", lambda: image)])
    assert found.why.id == "parity.agreement"


def test_metadata_lists_have_one_line_per_entry():
    values = line_metadata(dataclasses.replace(SEGMENTATION, um_per_pixel=2.5, run="r"), (64, 96))
    assert values["class_ids"] == "3\n7" and values["class_names"] == "scratch\npit"
    assert values["class_colors"] == "#ff0000\n#00ff00" and values["thresholds"] == "0.34\n0.36"
    assert values["min_areas_px"] == "0\n30" and "min_areas_px" in values["not_included"]
    assert values["um_per_pixel"] == "2.5" and "uint8 1x64x96x1" in values["input"]
    values = line_metadata(VERDICTS, (64, 96))
    assert values["verdicts"] == "good\nbad\nworse" and values["unsure"] == "0.2" and values["unsure_index"] == "-1"
    assert {"license", "version", "date", "run", "settings"} <= set(values)


def test_metadata_contain_the_verdict_rule():
    """Other programs read the rule as plain values, one line per limit, in every layout."""
    assert line_metadata(SEGMENTATION, (64, 96))["verdict_rule"] == "none"
    plain = RegionLimit(7, area=600, probability=0.9)
    drawn = RegionLimit(ANY_CLASS, most=3, length_below=12.5, edge=40, outcome="rework")
    rule = VerdictRule("region", limits=(plain, drawn), bad="")
    values = line_metadata(dataclasses.replace(SEGMENTATION, verdict_rule=rule, verdict_border=12), (64, 96))
    assert values["verdict_rule"] == "region" and (values["verdict_good"], values["verdict_bad"]) == ("OK", "")
    assert values["verdict_limits"] == "7 0 reject area=600 probability=0.9\n0 3 rework length_below=12.5 edge=40"
    assert values["verdict_border_px"] == "12" and "verdict_rule" in values["not_included"]
    with_score = dataclasses.replace(SEGMENTATION, verdict_rule=VerdictRule("mass", 13.289), anomaly_exponent=8)
    assert facts(with_score)["verdict_unsure_score"] == ""
    rule = VerdictRule("mass", 13.289, unsure=2.5)
    with_score = dataclasses.replace(with_score, border_exponent=2, verdict_rule=rule)
    found = facts(with_score)
    assert found["verdict_rule"] == "mass" and found["verdict_anomaly_score"] == "13.289"
    assert found["verdict_unsure_score"] == "2.5"
    assert (found["anomaly_exponent"], found["border_exponent"]) == ("8", "2") and found["verdict_limits"] == ""
