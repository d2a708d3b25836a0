"""Optimizer: orthogonal steps for the inner layers of a network, AdamW for the others."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from workbench.training.encoders import ResNet
from workbench.training.networks import UNet
from workbench.training.optimizers import Muon, clip_gradients, orthogonal

RATE = 4e-3


def take_step(net: paddle.nn.Layer, optimizer: paddle.optimizer.Optimizer) -> None:
    images = np.random.default_rng(0).standard_normal((2, 1, 64, 64), np.float32)
    net(paddle.to_tensor(images)).square().mean().backward()
    optimizer.step()


def unet() -> UNet:
    paddle.seed(0)
    return UNet(1, 3, [16, 24, 32], stem=2, contrast=True)


@pytest.mark.parametrize("shape", [(24, 24), (16, 150), (96, 32)])
def test_orthogonalization_equals_that_by_singular_vectors(shape):
    rng = np.random.default_rng(sum(shape))
    left, _, right = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
    matrix = (left * np.geomspace(8, 1, min(shape))) @ right  # directions with large and small singular values
    found = left.T @ orthogonal(paddle.to_tensor(matrix.astype(np.float32))).numpy() @ right.T
    assert np.all((np.diag(found) > 0.5) & (np.diag(found) < 1.3))
    assert np.abs(found - np.diag(np.diag(found))).max() < 1e-3
    assert not orthogonal(paddle.zeros(shape)).numpy().any()


def test_first_and_last_layer_norms_and_biases_are_updated_by_adamw():
    net, plain = unet(), unet()
    optimizer = Muon(net, learning_rate=RATE, weight_decay=0.01)
    take_step(net, optimizer)
    take_step(plain, paddle.optimizer.AdamW(RATE, parameters=plain.parameters(), weight_decay=0.01))
    same = {
        name
        for (name, one), other in zip(net.named_parameters(), plain.parameters())
        if not one.stop_gradient and np.array_equal(one.numpy(), other.numpy())
    }
    by_adamw = {name for name, p in net.named_parameters() if not p.stop_gradient and p.name not in optimizer.hidden}
    assert same == by_adamw and {"stem.convolve.weight", "head.weight", "head.bias"} <= same
    turned = {name for name, p in net.named_parameters() if p.name in optimizer.hidden}
    assert len(turned) == 12 and all(name.endswith("weight") and "norm" not in name for name in turned), turned


def test_a_step_is_as_large_as_one_of_adamw_in_all_directions():
    net = unet()
    before = {p.name: p.numpy() for p in net.parameters()}
    optimizer = Muon(net, learning_rate=RATE, weight_decay=0.0)
    take_step(net, optimizer)
    for parameter in net.parameters():
        if parameter.name in optimizer.hidden:
            moved = (parameter.numpy() - before[parameter.name]).reshape(len(parameter), -1)
            assert np.sqrt((moved**2).mean()) == pytest.approx(0.2 * RATE, rel=0.35)
            sizes = np.linalg.svd(moved, compute_uv=False)
            assert sizes[0] < 3 * np.median(sizes)


@pytest.mark.parametrize("limit", [0.01, 1e6])
def test_gradients_are_clipped_like_in_paddle(limit):
    nets = unet(), unet()
    for net in nets:
        net(paddle.to_tensor(np.random.default_rng(0).standard_normal((2, 1, 64, 64), np.float32))).sum().backward()
    known = paddle.nn.utils.clip_grad_norm_(nets[0].parameters(), limit).item()
    assert clip_gradients(nets[1].parameters(), limit) == pytest.approx(known, rel=1e-5) and known > 0.01
    for one, other in zip(*(net.parameters() for net in nets)):
        if one.grad is not None:
            np.testing.assert_allclose(other.grad.numpy(), one.grad.numpy(), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_norm_of_gradients_that_are_not_finite_is_nan(value):
    layer = paddle.nn.Linear(2, 2)
    (layer(paddle.ones([1, 2])) * value).sum().backward()
    assert not np.isfinite(clip_gradients(layer.parameters(), 1.0))


def test_resnet_has_orthogonal_steps_except_in_the_first_and_last_layer():
    net = ResNet(1, 3, depth=18, width=0.5, input_size=64)
    hidden = Muon(net, learning_rate=RATE).hidden
    convolutions = [p for _, p in net.named_parameters() if len(p.shape) == 4]
    assert {p.name for p in convolutions[1:]} == hidden


def test_16_bit_weights_are_copies_of_32_bit_ones():
    paddle.seed(0)
    net = paddle.nn.Conv2D(16, 16, 3, bias_attr=False)
    exact = paddle.nn.Conv2D(16, 16, 3, bias_attr=False)
    net.to(dtype="bfloat16")
    exact.weight.set_value(net.weight.astype("float32"))
    both = [Muon(each, learning_rate=1e-4, weight_decay=0.0, multi_precision=True) for each in (net, exact)]
    for number in range(5):  # each below the resolution of 16 bits
        gradient = paddle.to_tensor(np.random.default_rng(number).standard_normal((16, 16, 3, 3), np.float32))
        for each, optimizer in zip((net, exact), both):
            each.weight.grad = gradient.astype("bfloat16").astype(each.weight.dtype)
            optimizer.step()
    assert net.weight.dtype == paddle.bfloat16
    master = both[0]._master_weights[net.weight.name]
    np.testing.assert_allclose(master.numpy(), exact.weight.numpy(), atol=1e-7)
    assert (net.weight.astype("float32") == master.astype("bfloat16").astype("float32")).all()
