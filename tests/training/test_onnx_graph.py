"""The ONNX model computes the results of the network and of a general converter."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import paddle
import pytest

from workbench.core.runs.onnx_files import OPSET
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.engines.paddle_engine import PaddleEngine
from workbench.inference.model_settings import EngineOptions
from workbench.training import onnx_graph
from workbench.training.encoders import Lite0Classifier, ResNet, Standardized
from workbench.training.export.export_formats import save_program
from workbench.training.networks import UNet

NETWORKS = {
    "slim": (lambda: UNet(1, 4, [8, 16, 24], stem=4), 1, None),
    "two stems": (lambda: UNet(3, 2, [8, 16], stem=2), 3, None),
    "plain": (lambda: UNet(3, 3, [8, 16, 16], stem=1, contrast=False), 3, None),
    "resnet inside": (lambda: UNet(1, 2, [], encoder="resnet18", width=0.125), 1, None),
    "small verdicts": (lambda: ResNet(1, 3, depth=18, width=0.125, input_size=64), 1, 64),
    "standardized": (lambda: ResNet(1, 3, depth=18, width=0.125, input_size=64, standardize=True), 1, 64),
    "lite0": (lambda: Lite0Classifier(1, 3, rate=1.0), 1, 64),
    "verdicts": (lambda: ResNet(3, 5, depth=50, width=0.125, input_size=128), 3, 128),
}


@pytest.fixture(params=NETWORKS)
def network_case(request):
    """Return a network with random statistics and biases, its channels, and the side of its images (None: any)."""
    make, channels, side = NETWORKS[request.param]
    paddle.seed(5)
    generator = np.random.default_rng(5)
    net = make()
    for parameter in net.parameters():
        if len(parameter.shape) == 1:  # of norms and biases: no value stays 0 or 1
            parameter.set_value((generator.random(parameter.shape) + 0.5).astype(np.float32))
    net.train()
    for _ in range(3):
        net(paddle.to_tensor(pictures(generator, 4, channels, side or 64, side or 64)))
    net.eval()
    return net, channels, side


def pictures(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return (generator.standard_normal(shape) * 2 + 0.3).astype(np.float32)


@paddle.no_grad()
def output_of(net: paddle.nn.Layer, batch: np.ndarray) -> np.ndarray:
    return paddle.nn.functional.softmax(net(paddle.to_tensor(batch)), axis=1).numpy()


def output_of_onnx(model: bytes, batch: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: batch})[0]


def test_results_equal_those_of_the_network(network_case):
    net, channels, side = network_case
    model = onnx_graph.to_onnx(net, channels, side).SerializeToString()
    generator = np.random.default_rng(6)
    for count, height, width in [(1, 64, 64), (3, 96, 160), (2, 256, 64)]:
        if side is not None:
            height = width = side
        batch = pictures(generator, count, channels, height, width)
        assert np.abs(output_of_onnx(model, batch) - output_of(net, batch)).max() < 2e-5


# One network of each kind; converting the others takes longer and runs the same code.
USUAL = ("slim", "plain", "small verdicts", "lite0")


@pytest.mark.parametrize(
    "network_case",
    [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS],
    indirect=True,
)
def test_features_of_the_saved_program_equal_those_of_the_model(network_case, tmp_path):
    net, channels, side = network_case
    settings = TrainingSettings(model="unet" if side is None else "resnet", channels=channels, input_size=side or 224)
    save_program(net, settings, tmp_path / "network")
    program = PaddleEngine(tmp_path / "network.json", EngineOptions())
    model = onnx_graph.to_onnx(net, channels, side, features=True).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    generator = np.random.default_rng(7)
    for count, height, width in [(1, 64, 64), (2, 96, 160)]:
        batch = pictures(generator, count, channels, side or height, side or width)
        output, features = session.run(None, {"picture": batch})
        assert np.abs(program(batch) - output).max() < 2e-5
        found = program.with_features(batch)[1]
        assert found.shape == features.shape and np.abs(found - features).max() < 1e-4 * np.abs(features).max()


def test_uniform_image_has_finite_results(network_case):
    net, channels, side = network_case
    model = onnx_graph.to_onnx(net, channels, side).SerializeToString()
    batch = np.full((1, channels, side or 64, side or 64), 1.7, np.float32)
    assert np.abs(output_of_onnx(model, batch) - output_of(net, batch)).max() < 2e-5


@paddle.no_grad()
def test_means_over_a_large_image_are_exact():
    batch = (np.random.default_rng(1).standard_normal((1, 1, 512, 512)) * 0.1 - 0.7).astype(np.float32)
    exact = batch.astype(np.float64)
    values = Standardized(append=False)(paddle.to_tensor(batch)).numpy()
    expected = (exact - exact.mean()) / np.sqrt(exact.var() + Standardized.epsilon)
    assert np.abs(values - expected).max() < 1e-5
    moments = Lite0Classifier(1, 2, rate=1.0).statistics(paddle.to_tensor(batch)).numpy()[0, :2]
    assert moments == pytest.approx([exact.mean(), np.sqrt(exact.var() + Lite0Classifier.epsilon)], abs=1e-6)


@pytest.mark.slow
def test_results_equal_those_of_a_general_converter(network_case, tmp_path):
    paddle2onnx = pytest.importorskip("paddle2onnx", reason="paddle2onnx is not made for this Python")
    net, channels, side = network_case
    spec = paddle.static.InputSpec([None, channels, side, side], "float32", name="x")
    stem = tmp_path / "program"
    paddle.jit.save(net, str(stem), input_spec=[spec])
    net.eval()
    paddle2onnx.export(
        str(stem.with_suffix(".json")),
        str(stem.with_suffix(".pdiparams")),
        str(tmp_path / "other.onnx"),
        opset_version=OPSET,
        optimize_tool="none",
    )
    batch = pictures(np.random.default_rng(7), 2, channels, side or 128, side or 96)
    logits = output_of_onnx((tmp_path / "other.onnx").read_bytes(), batch)
    other = np.exp(logits - logits.max(axis=1, keepdims=True))
    other /= other.sum(axis=1, keepdims=True)
    ours = output_of_onnx(onnx_graph.to_onnx(net, channels, side).SerializeToString(), batch)
    assert np.abs(ours - other).max() < 2e-5


def test_model_is_valid_with_a_known_opset_and_free_sizes(network_case):
    net, channels, side = network_case
    model = onnx_graph.to_onnx(net, channels, side)
    onnx.checker.check_model(model, full_check=True)
    assert [opset.version for opset in model.opset_import] == [17]
    batch, depth, *sides = (d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
    assert (batch, depth, sides) == ("N", channels, ["H", "W"] if side is None else [side, side])
    assert {node.domain for node in model.graph.node} == {""}, "only operators that every engine has"


def test_the_maps_of_a_verdict_are_those_of_the_network():
    paddle.seed(5)
    net = ResNet(1, 3, depth=18, width=0.125, input_size=64)
    net.eval()
    batch = pictures(np.random.default_rng(8), 2, 1, 64, 64)
    model = onnx_graph.to_onnx(net, 1, 64, maps=True).SerializeToString()
    shares, maps = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"picture": batch})
    with paddle.no_grad():
        logits = net(paddle.to_tensor(batch))
        # The head is linear, so each logit is the mean of the map of its verdict plus a bias.
        last = net.stages(paddle.to_tensor(batch))[-1]
        expected = paddle.einsum("nchw,ck->nkhw", last, net.head.weight)
    assert np.abs(maps - expected.numpy()).max() < 2e-5
    assert np.abs(shares - paddle.nn.functional.softmax(logits, axis=1).numpy()).max() < 2e-5
