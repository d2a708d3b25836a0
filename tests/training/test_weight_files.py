"""Weight files of other programs: read without executing code, assigned to layers, and downloaded."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.server
import json
import os
import pickle
import shutil
import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np
import paddle
import pytest
from safetensors.numpy import save

from workbench.cli import train as cli
from workbench.core.problems import BadSettings, NoDownload, WeightsUnusable
from workbench.core.runs.events import Started
from workbench.core.runs.network_stats import downloaded_resnet
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.training import checkpoint, encoder_weights
from workbench.training.encoder_weights import Arrays, parse_weights, read_file
from workbench.training.encoders import ResNet, ResNetBody
from workbench.training.networks import UNet
from workbench.training.optimizers import weights


def read_weights(path: Path) -> Arrays:
    return parse_weights(read_file(path), str(path))


_TORCH = {"_mean": "running_mean", "_variance": "running_var"}


@pytest.fixture(scope="module")
def paddle_resnet():
    """ResNet-18 of Paddle, with random statistics of the norms."""
    paddle.seed(5)
    net = paddle.vision.models.resnet18()
    for name, tensor in net.state_dict().items():
        if name.endswith(("_mean", "_variance")) or ("bn" in name and name.endswith("weight")):
            tensor.set_value(paddle.uniform(tensor.shape, min=0.5, max=1.5))
    net.eval()
    return net


@pytest.fixture(scope="module")
def published(paddle_resnet, tmp_path_factory) -> Path:
    """File of its weights with the names of torchvision."""
    path = tmp_path_factory.mktemp("weights") / "ResNet [18] 重み.safetensors"
    path.write_bytes(save(as_torchvision(paddle_resnet)))
    return path


def features(net, x: paddle.Tensor) -> np.ndarray:
    """Return the output of the last stage of Paddle's network."""
    with paddle.no_grad():
        x = net.maxpool(net.relu(net.bn1(net.conv1(x))))
        return net.layer4(net.layer3(net.layer2(net.layer1(x)))).numpy()


def as_torchvision(net, prefix: str = "") -> dict[str, np.ndarray]:
    """Return the weights with the names and layouts of torchvision."""
    arrays = {}
    for name, tensor in net.state_dict().items():
        stem, _, last = name.rpartition(".")
        array = tensor.numpy()
        arrays[f"{prefix}{stem}.{_TORCH.get(last, last)}"] = array.T.copy() if name == "fc.weight" else array
        if last == "_mean":
            arrays[f"{prefix}{stem}.num_batches_tracked"] = np.zeros((), np.int64)
    return arrays


def initialized(path: Path, *, channels: int = 3, model: str = "resnet", **choices):
    """Return the ResNet body of a network that was initialized from a file."""
    training_settings = request(model, channels=channels, weights=str(path), **choices)
    if model == "resnet":
        net = ResNet(
            channels,
            2,
            depth=training_settings.depth,
            width=training_settings.width,
            input_size=training_settings.input_size,
        )
    else:
        net = UNet(channels, 2, [4, 8], encoder=training_settings.encoder, width=training_settings.width)
    encoder_weights.load_initial_weights(training_settings, net, lambda event: None, cancelled=lambda: False)
    net.eval()
    return net


# --- content of files --------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 4])
def test_files_of_paddle_are_read_as_paddle_reads_them(tmp_path, protocol):
    path = tmp_path / "重み [1].pdparams"
    net = paddle.nn.Sequential(paddle.nn.Conv2D(2, 3, 3), paddle.nn.BatchNorm2D(3))
    paddle.save(net.state_dict(), str(path), protocol=protocol)
    read = read_weights(path)
    assert set(read) == set(net.state_dict())
    assert all((read[name] == tensor.numpy()).all() for name, tensor in net.state_dict().items())


@pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
def test_every_protocol_and_memory_layout(tmp_path, protocol):
    arrays = {
        "columns": np.asfortranarray(np.arange(12, dtype=np.float64).reshape(3, 4)),
        "other order": np.arange(5, dtype=">i4"),
        "half": np.float16([[1.5, -2]]),
        "one": np.array(7, np.int64),
        "none": np.zeros((0, 3), np.float32),
        "every second": np.arange(9)[::2],
    }
    path = tmp_path / "x.pdparams"
    path.write_bytes(pickle.dumps(OrderedDict(arrays), protocol=protocol))
    if protocol == 0:  # a text format, which is not used for weights
        with pytest.raises(WeightsUnusable):
            read_weights(path)
        return
    read = read_weights(path)
    for name, array in arrays.items():
        assert read[name].shape == array.shape and (read[name] == array).all()
        assert read[name].dtype == array.dtype.newbyteorder("=")


class Calls:
    """Object whose pickle calls a function."""

    def __init__(self, function, *arguments) -> None:
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def crafted(kind: str, mark: Path) -> object:
    import os

    return {
        "system": Calls(os.system, f"echo > {mark}"),
        "inside": {"conv1.weight": Calls(os.system, f"echo > {mark}")},
        "eval": {"a": Calls(eval, f"open({str(mark)!r}, 'w')")},
        "copy": {"a": Calls(shutil.copy, __file__, mark)},
        "numpy": {"a": Calls(np.save, str(mark), np.zeros(2))},
        "zeros": {"a": Calls(bytearray, 1 << 40)},
    }[kind]


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("kind", ["system", "inside", "eval", "copy", "numpy", "zeros"])
def test_a_file_that_calls_a_function_is_refused_without_the_call(tmp_path, kind, protocol):
    mark = tmp_path / "mark.npy"
    path = tmp_path / "evil.pdparams"
    path.write_bytes(pickle.dumps(crafted(kind, mark), protocol=protocol))
    with pytest.raises(
        WeightsUnusable, match="requests a call of .*, which weight files never need|other than arrays of numbers"
    ):
        read_weights(path)
    assert not mark.exists()


def test_a_file_cannot_change_the_reader(tmp_path):
    """In an ordinary unpickler, the opcode BUILD sets attributes of any object."""
    path = tmp_path / "evil.pdparams"
    path.write_bytes(b"\x80\x02c_codecs\nencode\nN}X\x05\x00\x00\x00extraK\x01s\x86b.")
    assert pickle.loads(b"\x80\x02c_codecs\nencode\n.") is not None
    with pytest.raises(WeightsUnusable, match="other than arrays of numbers"):
        read_weights(path)


def test_the_crafted_file_calls_the_function_when_unpickled(tmp_path):
    mark = tmp_path / "mark"
    pickle.loads(pickle.dumps(crafted("system", mark)))
    assert mark.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 and so on", "PyTorch"),
        (b"", "neither"),
        (b"no weights at all, but a text that is long enough", "neither"),
        (b"\x80\x04]q\x00.", "other than arrays"),
        (pickle.dumps({"a": np.array([None, "x"], object)}), "other than arrays"),
        (pickle.dumps({"a": "text"}), "other than arrays"),
        (pickle.dumps({"a": np.zeros(50)})[:-60], "damaged"),
        (pickle.dumps({}), "no weights"),
        (save({}), "no weights"),
        (b"\x80\x04\x8c\x01ar\xff\xff\xff\x7f.", "table"),  # "store this as number 2147483647"
        (b"\x80\x02}K\x05K\x06s.", "other than arrays"),
        (b"\x80\x02K\x05K\x06K\x07s.", "other than arrays"),
        (b"\x80\x020.", "other than arrays"),
        (b"\x80\x02R.", "damaged"),
        (b"\x80\x02}", "damaged"),
    ],
)
def test_files_without_weights_are_refused(tmp_path, content, words):
    path = tmp_path / "x.pdparams"
    path.write_bytes(content)
    with pytest.raises(WeightsUnusable, match=words):
        read_weights(path)


def test_a_shape_that_does_not_fit_the_data_is_refused(tmp_path):
    data = pickle.dumps({"a": np.zeros((3, 5), np.float32)}, protocol=2)
    assert data.count(b"K\x03K\x05") == 1
    path = tmp_path / "x.pdparams"
    path.write_bytes(data.replace(b"K\x03K\x05", b"K\xffK\xff"))
    with pytest.raises(WeightsUnusable, match="damaged"):
        read_weights(path)


def test_a_path_that_is_no_file_is_refused(tmp_path):
    for path in (tmp_path / "gone.safetensors", tmp_path):
        with pytest.raises(WeightsUnusable):
            read_weights(path)


# --- assignment to layers -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["paddle", pytest.param("torchvision", marks=pytest.mark.slow), "wrapped"])
def test_a_resnet_has_the_features_of_the_published_one(tmp_path, paddle_resnet, kind):
    path = tmp_path / "resnet18"
    if kind == "paddle":
        paddle.save(paddle_resnet.state_dict(), str(path))
    else:
        path.write_bytes(save(as_torchvision(paddle_resnet, "module.backbone." if kind == "wrapped" else "")))
    x = paddle.randn([2, 3, 128, 96])
    net = initialized(path)
    with paddle.no_grad():
        np.testing.assert_allclose(net.stages(x)[-1].numpy(), features(paddle_resnet, x), rtol=1e-4, atol=1e-4)
        gray = initialized(path, channels=1).stages(x[:, :1])[-1].numpy()
    np.testing.assert_allclose(gray, features(paddle_resnet, x[:, :1].tile([1, 3, 1, 1])), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("depth", [pytest.param(34, marks=pytest.mark.slow), 50])
def test_weights_of_deeper_networks_fit_completely(depth):
    theirs = getattr(paddle.vision.models, f"resnet{depth}")()
    theirs.eval()
    found = encoder_weights.translate(as_torchvision(theirs), "x")
    assert encoder_weights.depth_of(found, "x") == depth
    ours = ResNetBody(3, depth=depth, width=1.0)
    assert {name: array.shape for name, array in weights(ours).items()} == {n: a.shape for n, a in found.items()}
    for name, tensor in ours.state_dict().items():
        tensor.set_value(found[name])
    ours.eval()
    x = paddle.randn([1, 3, 64, 64])
    with paddle.no_grad():
        np.testing.assert_allclose(ours.stages(x)[-1].numpy(), features(theirs, x), rtol=1e-3, atol=1e-3)


def test_the_encoder_of_a_unet_starts_with_them_without_the_local_contrast(published, paddle_resnet):
    net = initialized(published, channels=1, model="unet", encoder="resnet18")
    x = paddle.randn([1, 1, 64, 96])
    with paddle.no_grad():
        levels = net.down.stages(net.contrast(x))
    assert [tuple(stage.shape[2:]) for stage in levels] == [(32, 48), (16, 24), (8, 12), (4, 6), (2, 3)]
    np.testing.assert_allclose(levels[-1].numpy(), features(paddle_resnet, x.tile([1, 3, 1, 1])), rtol=1e-3, atol=1e-3)


def test_an_own_run_provides_encoder_weights(tmp_path):
    ours = ResNet(1, 5, depth=18, width=1.0, input_size=224)
    path = tmp_path / "weights.safetensors"
    path.write_bytes(save(weights(ours)))
    net = initialized(path, channels=1, model="unet", encoder="resnet18")
    assert (net.down.blocks[3].body[0].convolve.weight == ours.blocks[3].body[0].convolve.weight).all()


@pytest.mark.parametrize(
    ("choices", "problem", "words"),
    [
        ({"depth": 34}, WeightsUnusable, "holds a ResNet-18, but this run trains a ResNet-34; set depth=18"),
        ({"model": "unet", "encoder": "resnet34"}, WeightsUnusable, "set encoder=resnet18"),
        ({"model": "unet"}, BadSettings, "set encoder=resnet18"),
        ({"width": 0.5}, BadSettings, "width=1.0"),
        ({"input_size": 64}, BadSettings, "input_size=128"),
    ],
)
def test_unsuitable_weights_name_their_network_and_the_setting(published, choices, problem, words):
    with pytest.raises(problem, match=words):
        initialized(published, **choices)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.pop("layer2.0.bn1.bias"), r"blocks.2.body.0.norm.bias of a ResNet-18 is missing"),
        (
            lambda a: a.update({"layer3.0.conv1.weight": np.zeros((256, 4, 3, 3), np.float32)}),
            "has shape 256 x 4 x 3 x 3",
        ),
        (lambda a: a.update({"layer1.0.se.fc1.weight": np.zeros((4, 4), np.float32)}), "another kind"),
        (lambda a: a.update({"layer1.2.conv1.weight": np.zeros((64, 64, 3, 3), np.float32)}), "a network other than"),
        (lambda a: a.update({"bn1.bias": np.full(64, np.nan, np.float32)}), "NaN or infinite"),
        (lambda a: [a.pop(name) for name in list(a) if name.startswith("conv1")], "no ResNet"),
    ],
)
def test_a_file_of_another_network_is_refused(tmp_path, paddle_resnet, change, words):
    arrays = as_torchvision(paddle_resnet)
    change(arrays)
    path = tmp_path / "other.safetensors"
    path.write_bytes(save(arrays))
    with pytest.raises(WeightsUnusable, match=words):
        initialized(path)


# --- download -------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch):
    """Server of `server.content` at the address of the weights of a ResNet-18."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            one.requests.append(self.path)
            self.send_response(200 if one.content else 404)
            self.send_header("Content-Length", str(len(one.content) + one.missing))
            self.end_headers()
            with contextlib.suppress(OSError):  # the client has closed the connection
                self.wfile.write(one.content)

        def log_message(self, *arguments: object) -> None:
            pass

    one = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    one.content, one.missing, one.requests = b"\x00weights\x00" * 300_000, 0, []
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setattr(encoder_weights, "URL", f"http://127.0.0.1:{one.server_port}/models/resnet{{depth}}.pdparams")
    monkeypatch.setitem(encoder_weights.MD5, 18, hashlib.md5(one.content).hexdigest())
    yield one
    one.shutdown()
    one.server_close()
    thread.join()


def test_downloaded_weights_are_cached(server):
    received = []
    assert encoder_weights.download_weights(18, received.append) == server.content
    assert server.requests == ["/models/resnet18.pdparams"] and received[-1].done == received[-1].total == 2
    kept = downloaded_resnet(18)
    assert kept.read_bytes() == server.content and list(kept.parent.iterdir()) == [kept]
    assert encoder_weights.download_weights(18, received.append) == server.content and len(server.requests) == 1
    kept.write_bytes(b"torn")
    assert encoder_weights.download_weights(18, received.append) == server.content and len(server.requests) == 2


@pytest.mark.parametrize("way", ["changed", "cut", "404", "offline", "stopped", "large"])
def test_a_failed_download_names_the_reason_and_the_folder(server, way, monkeypatch):
    if way == "changed":
        server.content = server.content[:-1] + b"?"
    elif way == "cut":
        server.content, server.missing = server.content[:-9], 9
    elif way == "404":
        server.content = b""
    elif way == "offline":
        monkeypatch.setattr(encoder_weights, "URL", "http://127.0.0.1:9/resnet{depth}.pdparams")
    elif way == "large":
        monkeypatch.setattr(encoder_weights, "_MAX_BYTES", 1000)
    with pytest.raises(NoDownload) as caught:
        encoder_weights.download_weights(18, lambda event: None, cancelled=lambda: way == "stopped")
    kept = downloaded_resnet(18)
    assert str(kept) in str(caught.value) and "http://127.0.0.1" in str(caught.value)
    assert not kept.parent.exists() or not list(kept.parent.iterdir())


def test_a_cache_that_cannot_be_written_is_not_needed(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert encoder_weights.download_weights(18, lambda event: None) == server.content


def test_imagenet_selects_the_file_for_the_depth_of_the_run(server, tmp_path, paddle_resnet, monkeypatch):
    path = tmp_path / "x"
    paddle.save(paddle_resnet.state_dict(), str(path))
    server.content = path.read_bytes()
    monkeypatch.setitem(encoder_weights.MD5, 18, hashlib.md5(server.content).hexdigest())
    training_settings = request("resnet", weights="imagenet", channels=3)
    net = ResNet(3, 2, depth=18, width=1.0, input_size=224)
    encoder_weights.load_initial_weights(training_settings, net, lambda event: None, cancelled=lambda: False)
    assert (net.stem.convolve.weight == paddle_resnet.conv1.weight).all()


# --- in a run -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_starts_from_a_file_and_resumes_without_it(
    labeled_project, child, inside, tmp_path, paddle_resnet, published
):
    path = Path(shutil.copy(published, tmp_path))
    few = {"epochs": 50, "patch": 32, "batch": 4, "workers": 1}
    run = create_run(labeled_project, request("unet", encoder="resnet18", weights=str(path), **few))
    assert run.settings().width == 1.0 and "full width" in run.settings().reasons["width"]
    first = child("train", run.root)
    first.next(Started)
    first.process.kill()
    first.process.wait()
    tensors, state = checkpoint.load_last(run)
    assert state["step"] == 0  # its initial weights
    for kind in ("weights", "average"):
        found = tensors[kind]["down.blocks.7.body.1.convolve.weight"]
        assert (found == paddle_resnet.layer4[1].conv2.weight.numpy()).all()
    origin = json.loads((run.root / "weights.json").read_text("utf-8"))
    assert origin == {"weights": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "depth": 18}
    path.write_bytes(b"gone, and something else is here")
    assert child("train", run.root, "--resume").next(Started).resumed
    wrong = create_run(labeled_project, request("unet", encoder="resnet18", weights=str(path), **few))
    trainer = inside("train", wrong.root)
    assert trainer.end() == 1 and trainer.last.problem == "WeightsUnusable" and str(path) in trainer.last.why


@pytest.mark.parametrize(
    ("given", "expected"), [("权重.safetensors", "{here}权重.safetensors"), ("imagenet", "imagenet")]
)
def test_paths_are_relative_to_the_current_folder(tmp_path, monkeypatch, given, expected):
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    monkeypatch.chdir(tmp_path)
    training_settings = cli._settings(parser.parse_args(["P", "--model", "resnet", "--set", f"weights={given}"]))
    assert training_settings.weights == expected.format(here=f"{Path.cwd()}{os.sep}")
