"""Parts of a training in this process: losses, schedule, thresholds, precision, networks, checkpoints."""

from __future__ import annotations

import types
from functools import partial

import numpy as np
import paddle
import pytest

from tests.conftest import fill_project
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.runs.dataset import Dataset, Item, collect
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings, request
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.training import checkpoint, optimizers
from workbench.training.device import Device, choose as choose_device
from workbench.training.encoders import ResNet
from workbench.training.evaluator import Evaluation, Evaluator, score_statistic
from workbench.training.finalize import reserve_time
from workbench.training.learner import Learner, OutOfMemory
from workbench.training.losses import IGNORED, segmentation_loss, verdict_loss
from workbench.training.networks import UNet, mirrored, multiple_of
from workbench.training.optimizers import LossScaler, Precision, PrecisionChoice, load_weights, make_optimizer, weights
from workbench.training.previews import safe_name
from workbench.training.threshold_search import (
    TEMPERATURES,
    AreaSweep,
    BorderSweep,
    ThresholdSweep,
    choose_anomaly_exponent,
    choose_temperature,
    labeled_areas,
    max_areas,
)
from workbench.training.training_context import Budget, one_cycle

GPU = Device("gpu:0", "a card", (8, 0))


# --- losses -------------------------------------------------------------------------------------------


def loss_of(logits: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    tensor = paddle.to_tensor(logits.astype(np.float32), stop_gradient=False)
    loss = segmentation_loss(tensor, paddle.to_tensor(truth), dice_weight=1.0, cross_entropy_weight=1.0)
    loss.backward()
    return loss.item(), tensor.grad.numpy()


def test_ignored_pixels_do_not_affect_the_loss():
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(2, 3, 8, 8))
    truth = generator.integers(0, 3, (2, 8, 8)).astype(np.uint8)
    truth[:, :, 5:] = IGNORED
    loss, gradient = loss_of(logits, truth)
    assert not gradient[:, :, :, 5:].any() and gradient[:, :, :, :5].any()
    logits[:, :, :, 5:] = 99  # values of ignored pixels have no effect
    assert loss_of(logits, truth)[0] == pytest.approx(loss, rel=1e-6)
    assert np.isfinite(loss_of(logits, np.full_like(truth, IGNORED))[0])


def test_loss_of_classes_that_are_detected_together():
    """Expected values from NumPy: cross entropy and Dice of any defect, and cross entropy between the classes."""
    generator = np.random.default_rng(3)
    logits = generator.normal(size=(2, 4, 6, 5))
    truth = generator.integers(0, 4, (2, 6, 5)).astype(np.uint8)
    truth[1, :, 3:] = IGNORED
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    valid, defects = truth != IGNORED, (truth > 0) & (truth != IGNORED)
    any_defect = 1 - probabilities[:, 0]
    of_truth = np.take_along_axis(probabilities, np.where(valid, truth, 0)[:, None].astype(int), axis=1)[:, 0]
    detection = -np.log(np.where(defects, any_defect, 1 - any_defect))[valid].mean()
    told_apart = -np.log(of_truth / any_defect)[defects].mean()
    common, sums = any_defect * defects, any_defect * valid + defects
    per_image = 1 - (2 * common.sum((1, 2)) + 1) / (sums.sum((1, 2)) + 1)
    dice = (per_image.mean() + 1 - (2 * common.sum() + 1) / (sums.sum() + 1)) / 2
    loss = partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0, class_weight=0.3)
    tensors = paddle.to_tensor(logits.astype(np.float32)), paddle.to_tensor(truth)
    assert loss(*tensors).item() == pytest.approx(detection + dice + 0.3 * told_apart, rel=1e-5)
    two = paddle.to_tensor(logits[:, :2].astype(np.float32)), paddle.to_tensor(np.where(valid, truth > 0, IGNORED))
    separate = segmentation_loss(*two, dice_weight=1.0, cross_entropy_weight=1.0)
    assert loss(*two).item() == separate.item()  # a single class


def test_loss_is_lower_for_correct_predictions_and_weighs_small_defects():
    truth = np.zeros((2, 32, 32), np.uint8)
    truth[0, 3:5, 3:5] = 1
    truth[1, :, 16:] = 1
    right = np.stack([truth == 0, truth == 1], axis=1) * 12.0
    assert loss_of(right, truth)[0] < 0.01
    without_pinhole = right.copy()
    without_pinhole[0, :] = np.array([12.0, 0.0])[:, None, None]
    assert loss_of(without_pinhole, truth)[0] > 0.2  # 4 of 2048 pixels


def test_verdict_loss_is_cross_entropy():
    logits = np.array([[2.0, 0.0, -1.0], [0.5, 0.5, 0.5]], np.float32)
    truth = np.array([0, 2])
    shifted = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log(shifted[[0, 1], truth]).mean()
    got = verdict_loss(paddle.to_tensor(logits), paddle.to_tensor(truth), label_smoothing=0.0).item()
    assert got == pytest.approx(float(expected), rel=1e-5)


# --- schedule -----------------------------------------------------------------------------------------


def test_one_cycle_rises_falls_and_ends_annealed():
    rates = [one_cycle(p, peak=1.0, warm_up=0.2) for p in np.linspace(0, 1, 101)]
    assert np.argmax(rates) == 20 and max(rates) == pytest.approx(1.0)
    assert rates[0] < 0.05 and rates[-1] < 0.001
    assert one_cycle(7.0, peak=1.0, warm_up=0.0) == rates[-1]


def test_time_limit_reserves_a_part_of_the_minutes():
    budget = Budget(steps=None, seconds=100.0, reserve=20.0)
    assert budget.progress(5, 40.0) == pytest.approx(0.5) and budget.progress(5, 80.0) == 1.0
    budget.reserve = 1000.0
    assert budget.progress(5, 30.0) == pytest.approx(0.5)
    assert Budget(steps=8, seconds=None).progress(2, 1e9) == 0.25


def test_mirrored_predictions_need_the_same_augmentation():
    training_settings = TrainingSettings(model="unet", mirror=True, augment=["flip_horizontal", "flip_vertical"])
    assert (
        mirrored(training_settings) == ("both",)
        and mirrored(training_settings.model_copy(update={"mirror": False})) == ()
    )
    for augment, ways in (
        (["flip_horizontal"], ("left_right",)),
        (["flip_vertical", "noise"], ("upside_down",)),
        (["noise"], ()),
    ):
        assert mirrored(training_settings.model_copy(update={"augment": augment})) == ways


@pytest.mark.parametrize(("device", "share"), [(Device("cpu"), 1), (GPU, 2)])
def test_time_of_the_final_evaluation_is_reserved(device, share):
    """On a GPU it takes twice as long, with mirrored images; on a CPU a faster engine is used."""
    items = [Item(key=f"{n}.png", split="val", width=100, height=100) for n in range(6)]
    stage = types.SimpleNamespace(
        settings=TrainingSettings(model="unet", mirror=True),
        dataset=Dataset(model="unet", items=items),
        device=device,
        state=types.SimpleNamespace(reserve=0.0),
        budget=Budget(steps=None, seconds=600.0),
        best=types.SimpleNamespace(writing_seconds=1.0),
    )
    found = Evaluation({}, None, settings=None, keys=["0.png", "1.png"], seconds=5.0)
    reserve_time(stage, found)
    assert stage.state.reserve == stage.budget.reserve == pytest.approx(1 + share * 15)


# --- thresholds ---------------------------------------------------------------------------------------


def test_threshold_has_the_highest_dice():
    truth = np.zeros((20, 20), np.uint8)
    truth[:5] = 7
    scores = np.full((1, 20, 20), 40, np.uint8)
    scores[0, :5] = 90  # low probabilities that separate the classes
    sweep = ThresholdSweep((7,))
    sweep.add(truth, scores)
    (threshold,) = sweep.best()
    assert 40 / 255 < threshold <= 90 / 255
    truth[:] = 254
    nothing = ThresholdSweep((7,))
    nothing.add(truth, scores)
    assert nothing.best() == [0.5]


@pytest.mark.parametrize(("pictures", "own"), [(1, False), (60, True)])
def test_threshold_of_a_class_of_few_images_is_that_of_the_others(pictures, own):
    """In 30 images of the first class pixels below 0.4 are background; defects of the second class are uncertain."""
    truth = np.zeros((20, 20), np.uint8)
    truth[:5] = 1
    certain = np.zeros((2, 20, 20), np.uint8)
    certain[0], certain[0, :5] = 100, 200
    unsure = np.zeros((2, 20, 20), np.uint8)
    unsure[1], unsure[1, :5], unsure[1, :2] = 20, 40, 200
    sweep = ThresholdSweep((1, 2))
    for _ in range(30):
        sweep.add(truth, certain)
    for _ in range(pictures):
        sweep.add(truth * 2, unsure)
    first, second = sweep.best()
    assert 100 / 255 < first <= 200 / 255
    assert (20 / 255 < second <= 40 / 255) if own else 100 / 255 < second <= 200 / 255


def test_minimum_area_keeps_defects_of_known_size():
    truth = np.zeros((200, 200), np.uint8)
    truth[20:80, 20:80] = 3  # only a large defect is held out
    mask = truth.copy()
    mask[100:190:10, 100:190:10] = 3
    for corner in range(100, 190, 10):
        mask[corner : corner + 9, 20:29] = 3  # and nine false regions of 81 pixels
    sweep = AreaSweep((3,))
    sweep.add(truth, mask)
    assert sweep.best() == [100]
    known = np.zeros((100, 100), np.uint8)
    for number in range(10):
        known[10 * number : 10 * number + 7, 10:17] = 3  # others are of 49 pixels
    most = max_areas(labeled_areas([known, truth], (3, 4)))
    assert most == {3: 24}
    assert sweep.best(max_areas=most) == [4], "specks go, what could be a small defect stays"
    assert sweep.best(min_area=50, max_areas=most) == [50], "a person's word counts for more"


def test_minimum_area_without_validation_images_follows_the_labels(project):
    def paint(key: str, side: int) -> None:
        mask = np.zeros((80, 96), np.uint8)
        mask[5 : 5 + side, 5 : 5 + side] = 1
        annotation.save_mask(project, key, mask)

    keys = fill_project(project, 3)
    for key in keys:
        paint(key, 12)
    dataset = collect(project, "unet")
    settings = ModelSettings(
        task="segmentation",
        name="n",
        classes=(ClassSettings(1, "scratch", "#ff0000"),),
        thresholds=(0.5,),
        min_area=(0,),
    )
    judge = Evaluator(project, dataset)
    found = judge.default_settings(settings)
    assert (found.thresholds, found.min_area) == ((0.3,), (36,))
    paint(keys[0], 4)
    judge.reset()
    assert judge.default_settings(settings).min_area == (4,)
    assert Evaluator(project, dataset, least_area=50).default_settings(settings).min_area == (50,)


def test_minimum_area_weighs_false_regions_against_defects():
    truth = np.zeros((100, 100), np.uint8)
    truth[10:20, 10:20] = truth[40:50, 10:20] = 3
    mask = truth.copy()
    mask[80:83, 80:83] = 3  # a false region of nine pixels
    sweep = AreaSweep((3, 4))
    sweep.add(truth, mask)
    assert sweep.best() == [16, 0] and sweep.best(min_area=25) == [25, 25]
    mask[10:20, 15] = mask[15, 16:20] = 0  # one is detected as components of 50, 20 and 16 pixels
    broken = AreaSweep((3,))
    broken.add(truth, mask)
    assert broken.best() == [16]  # its small components do not justify false regions
    mask[40:50, 10:20] = 0
    mask[40:43, 10:13] = 3  # a defect detected with nine pixels outweighs one false region
    careful = AreaSweep((3,))
    careful.add(truth, mask)
    assert careful.best(min_area=2) == [2]
    mask[60:100:4, 0:100:4] = mask[60:100:4, 1:100:4] = 3  # but not two hundred false regions
    flooded = AreaSweep((3,))
    flooded.add(truth, mask)
    assert flooded.best() == [4]
    specks = np.zeros_like(mask)
    specks[60:98:6, 1:98:6] = 1
    mask[cv2.dilate(specks, np.ones((3, 3), np.uint8)) > 0] = 3
    drowned = AreaSweep((3,))
    drowned.add(truth, mask)
    assert drowned.best()[0] > 9  # a hundred false regions outweigh it


def test_temperature_corrects_overconfidence_if_there_are_enough_verdicts():
    truths = [0] * 30 + [1] * 10  # probability of 99 %, correct in three of four
    boasting = [np.array([0.99, 0.01])] * 40
    assert choose_temperature(boasting, truths) > 2
    assert choose_temperature(boasting[:10], truths[:10]) == 1.0


@pytest.mark.parametrize("true", [0.225, 0.366, 1.0, 6.0])
def test_temperature_is_found_where_label_smoothing_makes_networks_too_modest(true):
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1.5, (4000, 3))
    exact = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truths = [int(rng.choice(3, p=row)) for row in exact]
    given = np.exp(logits * true) / np.exp(logits * true).sum(axis=1, keepdims=True)
    assert choose_temperature(list(given), truths) == pytest.approx(true, rel=0.12)


def test_edge_of_the_temperatures_is_reached_by_a_network_that_hardly_commits_itself():
    certain = [np.array([0.501, 0.499]), np.array([0.499, 0.501])] * 20
    assert choose_temperature(certain, [0, 1] * 20) == TEMPERATURES[0] == 0.05


def test_score_is_the_mean_of_the_dice_of_any_defect_and_of_the_mean_of_the_classes():
    score = score_statistic("unet")
    any_defect, scratch, pit, absent = (3, 2, 2), (1, 4, 4), (3, 1, 1), (0, 0, 0)  # pixels hit, false, missed
    expected = (6 / 10 + (2 / 10 + 6 / 8) / 2) / 2
    assert score(np.array([*any_defect, *scratch, *pit, *absent], float)) == pytest.approx(expected)
    assert np.isnan(score(np.zeros(6))) and score(np.array([0, 5, 0, 0, 5, 0], float)) == 0


def test_defective_images_come_first_in_the_order():
    items = [Item(key=f"g{i}", mask_hash="x") for i in range(9)] + [Item(key="d", classes=[1], mask_hash="y")]
    assert stratified_order(items)[0].key == "d"
    assert stratified_order(items) == stratified_order(items[::-1])


def test_preview_names_are_plain_and_unique():
    names = {safe_name(key) for key in ("a/缺陷 1.png", "b/缺陷 1.png", "a/缺陷_1.png", "x" * 300)}
    assert len(names) == 4 and all(name.isascii() and len(name) < 80 and "/" not in name for name in names)


# --- device and precision -----------------------------------------------------------------------------


@pytest.mark.parametrize("requested", ["gpu:0,1", "tpu", "gpu:99"])
def test_unavailable_device_is_a_problem(requested):
    with pytest.raises(problems.DeviceMissing) as caught:
        choose_device(requested)
    assert requested in str(caught.value)


def test_precision_has_a_reason():
    processor = optimizers.choose_precision("fp16", Device("cpu"))
    assert processor.name == "fp32" and "fp16" in processor.reason
    assert optimizers.choose_precision("auto", GPU).name == "fp16"
    assert optimizers.choose_precision("auto", Device("gpu:0", "", (6, 1))).name == "fp32"
    with pytest.raises(problems.BadSettings, match="8.0"):
        optimizers.choose_precision("bf16", Device("gpu:0", "", (7, 5)))


@pytest.fixture
def scaler(monkeypatch):
    """Return a loss scaler of Paddle on the CPU that assumes a GPU."""
    place = types.SimpleNamespace(is_gpu_place=lambda: True)
    module = __import__("paddle.amp.grad_scaler", fromlist=["x"])
    monkeypatch.setattr(module, "_dygraph_tracer", lambda: types.SimpleNamespace(_expected_place=place))
    monkeypatch.setattr(module, "amp_global_state", lambda: types.SimpleNamespace(amp_dtype="float16"))
    return LossScaler(init_loss_scaling=1024.0, incr_every_n_steps=2)


def fp16_step(half: Precision, weight: paddle.Tensor, optimizer, factor: float) -> tuple[float, bool]:
    # Converted to 16 bits and back, so that gradients above 65504 overflow.
    loss = (weight.astype("float16").astype("float32") * factor).sum()
    half.backward(loss)
    outcome = half.step(optimizer, [weight], 1.0)
    optimizer.clear_grad()
    return outcome


def test_overflow_skips_the_step_and_halves_the_scale(scaler, capfd):
    half = Precision(PrecisionChoice("fp16", ""), scaler=scaler)
    weight = paddle.create_parameter([4], "float32")
    optimizer = paddle.optimizer.AdamW(0.1, parameters=[weight])
    before = weight.numpy().copy()
    norm, skipped = fp16_step(half, weight, optimizer, 70.0)
    assert skipped and not np.isfinite(norm) and half.loss_scale == 512.0
    assert (weight.numpy() == before).all()
    norm, skipped = fp16_step(half, weight, optimizer, 3.0)
    assert not skipped and norm == pytest.approx(6.0)  # unscaled before it is measured and clipped
    assert (weight.numpy() != before).all() and half.loss_scale == 512.0
    fp16_step(half, weight, optimizer, 3.0)
    assert half.loss_scale == 1024.0
    other = Precision(PrecisionChoice("fp16", ""), scaler=scaler)
    state = half.state()
    assert state["scale"] == [1024.0]
    scaler._scale = scaler._scale * 0
    other.load(state)
    assert other.loss_scale == 1024.0
    assert capfd.readouterr().out == ""  # output of Paddle between the events


# --- learner ------------------------------------------------------------------------------------------


def small_learner(loss=None, copies=0, **choices) -> Learner:
    paddle.seed(0)
    nets = [UNet(1, 2, [4, 8], contrast=False) for _ in range(2 + copies)]
    kwargs = {"grad_clip": 1.0, "average": 0.9, **choices}
    optimizer = make_optimizer(nets[0], "adamw", weight_decay=0.01)
    loss = loss or (lambda a, t: segmentation_loss(a, t, dice_weight=0.0, cross_entropy_weight=1.0))
    return Learner(nets[0], nets[1], loss, Precision(PrecisionChoice("fp32", "")), optimizer, copies=nets[2:], **kwargs)


def batch(count: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    pictures = generator.normal(size=(count, 1, 16, 16)).astype(np.float32)
    return pictures, (pictures[:, 0] > 1).astype(np.uint8)


def test_parallel_replicas_equal_sequential_parts_bit_by_bit():
    alone, together = small_learner(copies=0), small_learner(copies=1)
    alone.split(4)
    for seed in range(5):
        received = [learner.step(*batch(seed=seed), 1e-2) for learner in (alone, together)]
        assert received[0] == received[1]
    trained = [[p.numpy() for p in learner.net.parameters() if p.trainable] for learner in (alone, together)]
    assert all((a == b).all() for a, b in zip(*trained))


def test_a_batch_that_exceeds_the_memory_is_computed_in_parts():
    limit = 2

    def loss(answer, truth):
        if len(answer) > limit:
            raise MemoryError("ResourceExhaustedError: Out of memory error on GPU 0.")
        return segmentation_loss(answer, truth, dice_weight=0.0, cross_entropy_weight=1.0)

    learner = small_learner(loss)
    before = weights(learner.net)["head.weight"].copy()
    with pytest.raises(MemoryError):
        learner.step(*batch(), 1e-3)
    assert (weights(learner.net)["head.weight"] == before).all()
    learner.split(4)
    outcome = learner.step(*batch(), 1e-3)
    assert learner.parts == 2 and np.isfinite(outcome.loss) and not outcome.diverged
    limit = 0
    learner.split(4)
    with pytest.raises(OutOfMemory):
        learner.split(4)


def test_divergence_is_detected_before_it_reaches_the_weights():
    learner = small_learner(lambda answer, truth: (answer * float("nan")).sum())
    before = weights(learner.mean)
    outcome = learner.step(*batch(), 1e-3)
    assert outcome.diverged
    assert all((before[name] == array).all() for name, array in weights(learner.mean).items())


def test_averaged_weights_are_computed_in_fp32():
    learner = small_learner(average=0.5)
    start = weights(learner.mean)["head.bias"].copy()
    learner.step(*batch(), 1e-2)
    keep = min(0.5, 2 / 11)
    expected = start * keep + weights(learner.net)["head.bias"] * (1 - keep)
    np.testing.assert_allclose(weights(learner.mean)["head.bias"], expected, rtol=1e-6)


def test_optimizer_is_restored_in_a_process_with_other_layer_names():
    first = small_learner()
    for _ in range(3):
        first.step(*batch(), 1e-3)
    saved = first.optimizer_arrays(), weights(first.net), weights(first.mean), first.updates
    assert any(name.startswith("moment1") for name in saved[0])
    paddle.nn.Linear(3, 3)  # changes the names that Paddle generates
    second = small_learner()
    second.load_optimizer(saved[0])
    load_weights(second.net, saved[1], "x")
    load_weights(second.mean, saved[2], "x")
    second.updates = saved[3]
    for learner in (first, second):
        learner.step(*batch(), 1e-3)
    for one, two in ((first.net, second.net), (first.mean, second.mean)):
        assert all((weights(two)[name] == array).all() for name, array in weights(one).items())
    with pytest.raises(problems.RunBroken):
        second.load_optimizer({"moment1/nowhere": np.zeros(3, np.float32)})


# --- networks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", [1, 2, 4])
@pytest.mark.parametrize("contrast", [False, True])
def test_untrained_unet_predicts_the_prior_for_every_pixel(stem, contrast):
    widths = [4, 8]
    net = UNet(3, 3, widths, stem=stem, contrast=contrast)
    net.set_prior(np.array([0.9, 0.09, 0.01]))
    net.head.weight.set_value(net.head.weight * 0)
    side = 2 * multiple_of(widths, stem=stem, contrast=contrast)
    answer = paddle.nn.functional.softmax(net(paddle.randn([2, 3, side, side * 2])), axis=1).numpy()
    assert answer.shape == (2, 3, side, side * 2)
    np.testing.assert_allclose(answer.mean(axis=(0, 2, 3)), [0.9, 0.09, 0.01], atol=1e-4)


def test_local_contrast_does_not_depend_on_the_lighting():
    layer = UNet(1, 2, [4, 8]).contrast
    image = paddle.randn([1, 1, 64, 64])
    bright, dark = layer(image)[:, 1].numpy(), layer(image * 0.5 - 2)[:, 1].numpy()
    assert np.corrcoef(bright.ravel(), dark.ravel())[0, 1] > 0.999 and np.abs(bright - dark).max() < 0.2


@pytest.mark.parametrize(
    ("depth", "parameters"), [(18, 11.2), pytest.param(34, 21.3, marks=pytest.mark.slow), (50, 23.5)]
)
def test_resnet_has_the_published_number_of_parameters(depth, parameters):
    net = ResNet(3, 10, depth=depth, width=1.0, input_size=224)
    assert sum(p.size for p in net.parameters()) / 1e6 == pytest.approx(parameters, abs=0.2)
    small = ResNet(1, 4, depth=depth, width=0.25, input_size=64)
    assert small(paddle.zeros([2, 1, 64, 64])).shape == [2, 4]


# --- checkpoints --------------------------------------------------------------------------------------


def test_an_interrupted_save_keeps_the_previous_state(tmp_path, monkeypatch):
    run = Run(tmp_path)
    checkpoint.save_last(run, 1, {"weights": {"a": np.ones(3, np.float32)}}, {"elapsed": 0.1})
    checkpoint.save_last(run, 2, {"weights": {"a": np.full(3, 2, np.float32)}}, {"elapsed": 0.2})

    def full(path, value):
        raise problems.CannotWrite(path=str(path), why="no space left on device")

    monkeypatch.setattr(checkpoint, "write_json", full)
    with pytest.raises(problems.CannotWrite):
        checkpoint.save_last(run, 3, {"weights": {"a": np.full(3, 3, np.float32)}}, {"elapsed": 0.3})
    tensors, state = checkpoint.load_last(run)
    assert state["step"] == 2 and tensors["weights"]["a"].tolist() == [2, 2, 2]
    assert len(list(run.last.glob("*.safetensors"))) <= 2


@pytest.mark.parametrize("damage", ["cut", "gone", "state"])
def test_a_damaged_checkpoint_is_a_problem(tmp_path, damage):
    run = Run(tmp_path)
    checkpoint.save_last(run, 1, {"weights": {"a": np.ones(300, np.float32)}}, {})
    (file,) = run.last.glob("*.safetensors")
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:100])
    elif damage == "gone":
        file.unlink()
    else:
        (run.last / "state.json").write_text('{"step": 1, "format": 1}')
    with pytest.raises(problems.RunBroken):
        checkpoint.load_last(run)


def test_settings_hash_depends_on_settings_and_not_on_reasons():
    one = request("unet", minutes=3)
    assert checkpoint.settings_hash(one) == checkpoint.settings_hash(
        TrainingSettings(**{**one.model_dump(), "reasons": {"a": "b"}})
    )
    assert checkpoint.settings_hash(one) != checkpoint.settings_hash(request("unet", minutes=4))


# --- warm start ---------------------------------------------------------------------------------------


def test_output_layers_of_common_classes_are_copied_and_new_ones_start_untrained():
    generator = np.random.default_rng(0)
    # Two classes and the background, four pixels each; ids 3 and 7 become 7, 9 and 3.
    old = {"head.weight": generator.normal(size=(12, 5, 1, 1)), "head.bias": generator.normal(size=12)}
    new = {"head.weight": np.zeros((16, 5, 1, 1)), "head.bias": np.zeros(16)}
    arrays = dict(old)
    checkpoint._match_output_layers(arrays, new, ["", 3, 7], ["", 7, 9, 3])
    for part, place, was in [(p, *pair) for p in old for pair in ((0, 0), (1, 2), (3, 1))]:
        assert (arrays[part][4 * place : 4 * place + 4] == old[part][4 * was : 4 * was + 4]).all()
    assert not arrays["head.weight"][8:12].any() and not arrays["head.bias"][8:12].any()
    verdicts = {"head.weight": generator.normal(size=(6, 2)), "head.bias": generator.normal(size=2)}
    arrays = dict(verdicts)
    fresh = {"head.weight": np.zeros((6, 3)), "head.bias": np.zeros(3)}
    checkpoint._match_output_layers(arrays, fresh, ["NG", "OK"], ["NG", "dent", "OK"])
    assert (arrays["head.weight"][:, [0, 2]] == verdicts["head.weight"]).all() and not arrays["head.weight"][:, 1].any()
    assert arrays["head.bias"].tolist() == [verdicts["head.bias"][0], 0, verdicts["head.bias"][1]]


def ranked_images(*, false_at_border: bool, defect: int = 50, count: int = 12) -> BorderSweep:
    """Defective images with 25 pixels, at `defect` from two sides; good ones with a few, or with 36 at the border."""
    sweep = BorderSweep()
    for number in range(2 * count):
        truth, mask = np.zeros((2, 120, 100), np.uint8)
        if number < count:
            truth[defect : defect + 5, defect : defect + 5] = mask[defect : defect + 5, defect : defect + 5] = 1
        elif false_at_border:
            mask[:6, 10:16] = 1
        else:
            mask[60, 60 : 60 + number % 3] = 1
        sweep.add(truth, mask, np.where(mask > 0, 200, 0).astype(np.uint8))
    return sweep


def test_border_is_ignored_if_that_ranks_images_better():
    assert ranked_images(false_at_border=True).best() == 8  # as good as 4
    assert ranked_images(false_at_border=True, defect=5).best() == 4  # 12 of the 36 pixels remain, fewer than 25
    assert ranked_images(false_at_border=True, count=9).best() == 0  # too few images
    assert BorderSweep().best() == 0


def test_exponent_of_the_score_changes_the_border():
    """Good images with large faint regions at the border rank below defects if uncertain pixels hardly count."""
    chosen = []
    for exponent in (1, 8):
        sweep = BorderSweep(exponent)
        for number in range(24):
            truth, mask, scores = np.zeros((3, 120, 100), np.uint8)
            if number % 2:
                truth[50:55, 50:55], mask[50:55, 50:55], scores[50:55, 50:55] = 1, 1, 230
            else:
                mask[:12], scores[:12] = 1, 40
            sweep.add(truth, mask, scores)
        chosen.append([good < bad for good, bad in zip(sweep.scores[0], sweep.scores[1])][0])
    assert chosen == [False, True]


def test_exponent_of_the_score_suits_the_certainty_of_the_network():
    def image(probability: float, pixels: int) -> np.ndarray:
        return np.bincount(np.full(pixels, round(255 * probability)), minlength=256)

    assert choose_anomaly_exponent([]) == choose_anomaly_exponent([image(0.5, 0)]) == 32
    assert choose_anomaly_exponent([image(0.99, 30)] * 3) == 32
    assert choose_anomaly_exponent([image(0.99, 30), image(0.5, 30), image(0.5, 30)]) == 4  # 30 / 16 pixels
    assert choose_anomaly_exponent([image(0.1, 5)] * 3) == 1  # no exponent is small enough


def test_default_border_is_ignored_unless_defects_lie_there():
    assert ranked_images(false_at_border=False).best() == 8
    assert ranked_images(false_at_border=False, defect=2).best() == 0  # the ranking would be worse
    at_side = ranked_images(false_at_border=False)
    truth, mask = np.zeros((2, 120, 100), np.uint8)
    truth[60:64, :4] = 1  # a defect that the network does not detect
    for _ in range(3):
        at_side.add(truth, mask, mask)
    assert at_side.best() == 8
    at_side.add(truth, mask, mask)  # 4 of 16
    assert at_side.best() == 0


def test_ignored_border_is_narrow_in_narrow_images():
    sweep = ranked_images(false_at_border=True)
    sweep.add(*np.zeros((3, 40, 100), np.uint8))
    assert sweep.best() == 0
