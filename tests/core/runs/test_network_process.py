"""Hostile networks: without end, with any memory, nested, killed. They are ended at once and leave no process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.conftest import ROOT
from tests.core.adoption.toy_networks import toy_network
from tests.core.click_model.toy_click_networks import toy_encoder, toy_pair
from workbench import cli
from workbench.core import problems
from workbench.core.adoption.adopted_run import AdoptionCancelled, adopt
from workbench.core.adoption.network_file import AdoptionOptions
from workbench.core.click_model.click_model import ClickCancelled, ClickModel, Prompts
from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation, sources
from workbench.core.project.project import Project
from workbench.core.runs import network_process
from workbench.core.runs.model_lookup import open_predictor
from workbench.core.runs.run import list_runs
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Predictor
from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.prediction_jobs import SuggestAll
from workbench.session.predictions import Predictions
from workbench.session.preferences import Preferences
from workbench.session.project_jobs import AdoptionJob, GaugeJob
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl

OPTIONS = AdoptionOptions(classes=("scratch",), size=64, stride=8)
IMAGE = np.zeros((40, 50, 3), np.uint8)
WHOLE = Rect(0, 0, 50, 40)
CLICK = Prompts((((5.0, 5.0), True),))


def save(path, nodes, *, constants=(), size=(1, 1, 64, 64)):
    """Write a network from `image` to `out`."""
    graph = helper.make_graph(
        nodes,
        "hostile",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, size)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [size[0], 2, *size[2:]])],
        [numpy_helper.from_array(np.array(value), name) for name, value in constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def loop(path, repetitions, operator, names, *, size=(1, 1, 64, 64), **attributes):
    """Write a network that applies an operator to its state again and again."""
    step = [
        helper.make_node("Identity", ["go"], ["goes"]),
        helper.make_node(operator, names, ["next"], **attributes),
    ]
    inputs = [
        helper.make_tensor_value_info("step", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        helper.make_tensor_value_info("state", TensorProto.FLOAT, None),
    ]
    outputs = [
        helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
        helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
    ]
    body = helper.make_graph(step, "body", inputs, outputs)
    nodes = [helper.make_node("Loop", ["n", "yes", "image"], ["x"], body=body)]
    nodes.append(helper.make_node("Concat", ["x", "x"], ["out"], axis=1))
    return save(path, nodes, constants=[("n", np.int64(repetitions)), ("yes", True)], size=size)


def endless(path, size=(1, 1, 64, 64)):
    return loop(path, 2**62, "Abs", ["state"], size=size)


def large(path):
    """Write a network that doubles its state until the memory is full."""
    return loop(path, 60, "Concat", ["state", "state"], axis=2)


def nested(path, depth):
    """Write a network of conditions within conditions, each with two branches."""

    def branch(level, name):
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        if not level:
            return helper.make_graph([helper.make_node("Abs", ["image"], [name])], name, [], [output])
        inner = {side: branch(level - 1, f"{name}{side[0]}") for side in ("then_branch", "else_branch")}
        return helper.make_graph([helper.make_node("If", ["yes"], [name], **inner)], name, [], [output])

    nodes = branch(depth, "x").node
    return save(path, [*nodes, helper.make_node("Concat", ["x", "x"], ["out"], axis=1)], constants=[("yes", True)])


def children():
    """Return the processes of networks that this process has started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "--network" in process.cmdline() or network_process.FLAG in " ".join(process.cmdline()):
                found.append(process)
        except (psutil.Error, OSError):  # it is starting or ending
            pass
    return found


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"]) as made:
        yield made


pytestmark = pytest.mark.new_processes  # they are recognized by their command lines


def test_adoption_is_canceled_at_once(project, tmp_path):
    canceled = threading.Event()
    path = endless(tmp_path / "net.onnx")
    threading.Timer(1, canceled.set).start()
    with pytest.raises(AdoptionCancelled):
        adopt(project, path, OPTIONS, cancelled=canceled.is_set)
    assert not psutil.wait_procs(children(), timeout=30)[1] and not list_runs(project.root)


def test_time_limit(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(network_process, "SECONDS", 2)
    path = endless(tmp_path / "net.onnx")
    Project.create(tmp_path / "p", classes=["scratch"]).close()
    assert cli.main(["adopt", str(path), "--project", str(tmp_path / "p"), "--size", "64"]) == 1
    assert "it computed for more than 2 seconds and was ended" in capsys.readouterr().err
    assert not psutil.wait_procs(children(), timeout=30)[1]


def test_memory_limit(project, tmp_path, monkeypatch):
    monkeypatch.setattr(network_process, "memory_limit", lambda: 1 << 30)
    with pytest.raises(problems.ModelFileRefused, match="more than 1 GB of memory"):
        adopt(project, large(tmp_path / "net.onnx"), OPTIONS)
    assert not psutil.wait_procs(children(), timeout=30)[1]


def test_killed_process_is_a_refusal(project, tmp_path):
    path = endless(tmp_path / "net.onnx")

    def kill():
        while not children():
            time.sleep(0.01)
        for process in children():
            process.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(problems.ModelFileRefused, match="ended unexpectedly"):
        adopt(project, path, OPTIONS)
    thread.join()


def test_deeply_nested_network_can_be_canceled_while_it_is_read(project, tmp_path):
    canceled = threading.Event()
    threading.Timer(2, canceled.set).start()
    with pytest.raises((AdoptionCancelled, problems.ModelFileRefused)):
        adopt(project, nested(tmp_path / "net.onnx", 11), OPTIONS, cancelled=canceled.is_set)
    assert not psutil.wait_procs(children(), timeout=30)[1]


def test_closing_the_project_ends_the_adoption(project, tmp_path, qtbot):
    project.close()
    session = Session()
    job = AdoptionJob(session)
    assert session.open_project(project.root)
    job.start(endless(tmp_path / "net.onnx"), OPTIONS)
    qtbot.waitUntil(lambda: bool(children()))
    assert session.close_project()  # it would wait without end for the thread
    assert not job.running and not psutil.wait_procs(children(), timeout=30)[1]


@pytest.mark.skipif(os.name != "posix", reason="kills the parent")
def test_process_ends_with_its_parent(project, tmp_path):
    path = endless(tmp_path / "net.onnx")
    project.close()
    code = "import sys; from workbench import cli; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "adopt", str(path), "--project", str(project.root), "--size", "64"]
    parent = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        while not (found := psutil.Process(parent.pid).children()):
            assert parent.poll() is None
            time.sleep(0.01)
    finally:
        parent.kill()
        parent.wait()
    assert not psutil.wait_procs(found, timeout=30)[1]


# --- click model ------------------------------------------------------------------------------------


def test_run_of_the_click_model_is_stopped_and_the_process_used_again(tmp_path):
    encoder, decoder = toy_pair(tmp_path, "sam")
    model = ClickModel(toy_encoder(encoder, "sam", endless=True), decoder)
    before = set(children())
    canceled = threading.Event()
    threading.Timer(1, canceled.set).start()
    with pytest.raises(ClickCancelled):
        model.segment(IMAGE, WHOLE, CLICK, None, canceled.is_set)
    assert set(children()) == before  # the networks need not be loaded again
    model.terminate()
    assert not psutil.wait_procs(before, timeout=30)[1]


def test_click_model_works_again_after_its_process_was_killed(tmp_path):
    model = ClickModel(*toy_pair(tmp_path, "sam"))
    expected = model.segment(IMAGE, WHOLE, CLICK, None, lambda: False)
    for process in children():
        process.kill()
        process.wait()
    found = model.segment(IMAGE.copy(), WHOLE, CLICK, None, lambda: False)
    assert found.quality == expected.quality
    model.terminate()


def test_memory_limit_of_the_click_model(tmp_path, monkeypatch):
    monkeypatch.setattr(network_process, "memory_limit", lambda: 1 << 30)
    encoder, decoder = toy_pair(tmp_path, "sam")
    model, other = onnx.load(encoder), onnx.load(large(tmp_path / "large.onnx"))
    (last,) = (node for node in model.graph.node if "image_embeddings" in node.output)
    last.output[0] = "image"
    model.graph.node[0].input[0] = model.graph.input[0].name = "photo"
    loop = other.graph.node[0]
    mean = helper.make_node("ReduceMean", ["x"], ["mean"])
    model.graph.node.extend([loop, mean, helper.make_node("Add", ["image", "mean"], ["image_embeddings"])])
    model.graph.initializer.extend(other.graph.initializer)
    encoder.write_bytes(model.SerializeToString())
    with pytest.raises(problems.ClickModelRefused, match="more than 1 GB of memory"):
        ClickModel(encoder, decoder).segment(IMAGE, WHOLE, CLICK, None, lambda: False)
    assert not psutil.wait_procs(children(), timeout=30)[1]


@pytest.mark.parametrize("location", ["/etc/hostname", "../secret"])
def test_weights_of_the_click_model_are_not_read_from_elsewhere(tmp_path, location):
    (tmp_path / "secret").write_bytes(bytes(1000))
    (tmp_path / "in").mkdir()
    encoder, decoder = toy_pair(tmp_path / "in", "sam")
    model = onnx.load(encoder)
    for weights in model.graph.initializer:
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        weights.external_data.add(key="location", value=location)
    assert model.graph.initializer
    encoder.write_bytes(model.SerializeToString())
    with pytest.raises(problems.ClickModelRefused) as refusal:
        ClickModel(encoder, decoder)
    assert not psutil.wait_procs(children(), timeout=30)[1], refusal  # while the problem is shown


@pytest.mark.parametrize("part", ["run", "load"])
def test_quitting_ends_the_click_model_at_once(tmp_path, qtbot, part):
    encoder, decoder = toy_pair(tmp_path, "sam")
    if part == "run":
        toy_encoder(encoder, "sam", endless=True)
    else:
        nested(encoder, 13)
    preferences = Preferences(click_encoder=str(encoder), click_decoder=str(decoder))
    clicks = ClickSegmentation(preferences)
    clicks.segment(IMAGE, WHOLE, CLICK, None, lambda mask: None)
    qtbot.waitUntil(lambda: len(children()) >= (2 if part == "run" else 1))
    clicks.close()
    assert not psutil.wait_procs(children(), timeout=30)[1]


# --- runs of others -------------------------------------------------------------------------------------


@pytest.fixture
def endless_run(request, tmp_path, monkeypatch):
    """Run whose network computes without end, and its project, in which one image is labeled.

    It is an adopted run, or one of a project that was made on another computer.
    """
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        write_png(project.root / "pictures" / "a.png", IMAGE)
        annotation.save_mask(project, "a.png", np.eye(40, 50, dtype=np.uint8))
        run = adopt(project, toy_network(tmp_path / "net.onnx"), OPTIONS)
        endless(run.best / "network.onnx", ("n", 1, "h", "w"))
    if request.param == "foreign":
        run.adopted_path.unlink()
        monkeypatch.setattr(sources, "_allowed", {})
        for name in ("XDG_CONFIG_HOME", "WIN_PD_OVERRIDE_APPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
            monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    return run


def of_runs(name, *uses):
    """Parametrize a test by the first use of a run of others and by uses of an adopted run, of which one is quick."""
    values = [("foreign", uses[0]), ("adopted", uses[1])]
    values += [pytest.param("adopted", use, marks=pytest.mark.slow) for use in uses if use != uses[1]]
    return pytest.mark.parametrize(("endless_run", name), values, indirect=["endless_run"])


@of_runs("verb", "evaluate", "gauge", "predict", "queue")
def test_network_of_others_without_end_is_ended_at_the_time_limit(endless_run, tmp_path, monkeypatch, capsys, verb):
    monkeypatch.setattr(network_process, "SECONDS", 3)
    root, verdicts = str(endless_run.project_root), tmp_path / "verdicts.csv"
    verdicts.write_text("image,A\na.png,OK\n")
    arguments = {
        "evaluate": [root, "--run", endless_run.name],
        "gauge": [root, "--run", endless_run.name, "--inspectors", str(verdicts)],
        "predict": [str(endless_run.root), root + "/pictures", "--out", str(tmp_path / "out")],
        "queue": [root, "--run", endless_run.name],
    }
    assert cli.main([verb, *arguments[verb]]) == 1
    assert "it computed for more than 3 seconds and was ended" in capsys.readouterr().err
    assert not psutil.wait_procs(children(), timeout=30)[1]


@of_runs("use", "prediction", "evaluation", "gauge", "suggestions")
def test_closing_the_project_ends_a_network_of_others(endless_run, tmp_path, qtbot, use):
    session = Session()
    assert session.open_project(endless_run.project_root)
    qtbot.waitUntil(lambda: bool(session.keys))
    if use == "prediction":
        predictions = Predictions(session)
        predictions.load(endless_run)
        predictions.predict("a.png")
    elif use == "evaluation":
        evaluation = RunEvaluation(session, TrainingControl(session))
        evaluation.open(endless_run)
    elif use == "gauge":
        (tmp_path / "verdicts.csv").write_text("image,A\na.png,OK\n")
        job = GaugeJob(session)
        session.project_closed.connect(job.close)  # as its dialog does
        job.start(session.project, endless_run, inspectors=tmp_path / "verdicts.csv")
    else:
        job = SuggestAll(session)
        job.start(endless_run.best)
    qtbot.waitUntil(lambda: bool(children()), timeout=20_000)
    assert session.close_project()  # it would wait without end for the thread
    assert not psutil.wait_procs(children(), timeout=30)[1]


def test_adopted_network_predicts_in_another_process_what_it_predicts_here(project, tmp_path):
    run = adopt(project, toy_network(tmp_path / "net.onnx"), OPTIONS)
    image = np.random.default_rng(0).integers(0, 256, (150, 90, 3), np.uint8)
    predictor = open_predictor(run.best)
    found, expected = predictor.predict(image), Predictor.open(run.best).predict(image)
    assert len(children()) == 1 and (found.scores == expected.scores).all() and (found.mask == expected.mask).all()
    for process in children():  # the next prediction starts another one
        process.kill()
        process.wait()
    assert (predictor.predict(image).scores == expected.scores).all()
    del predictor
    assert not psutil.wait_procs(children(), timeout=30)[1]
