"""Optimization step of a GPU: all of it is enqueued, and its result is read when the next step has been enqueued.

The host does not know then if a gradient overflowed. So the GPU decides: factors that are 0 after an overflow leave
weights, moments and averages bit by bit as they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import paddle

from workbench.training.flat_tensors import FlatTensors, HostCopy
from workbench.training.network_state import Arrays
from workbench.training.optimizers import ADAM_SCALE, MOMENTUM, Muon, orthogonal_fused
from workbench.training.precision import Precision


def can_be_flat(net: paddle.nn.Layer, mean: paddle.nn.Layer) -> bool:
    """Return True if all weights have 32 bits, as without level O2 of mixed precision."""
    names = [name for name, _ in net.named_parameters()]
    return names == list(net.state_dict()) and all(
        parameter.dtype == paddle.float32 for one in (net, mean) for parameter in one.parameters()
    )


class DeviceUpdate:
    """Update of the weights of `net` by its optimizer, and of their averages in `mean`, without waiting for the device.

    Weights, moments, running statistics and averages are moved into one tensor each. updates: number of updates made,
    on the device.
    """

    def __init__(
        self, net: paddle.nn.Layer, mean: paddle.nn.Layer, optimizer: paddle.optimizer.AdamW, average: float
    ) -> None:
        self.optimizer, self.average = optimizer, average
        averages = dict(mean.named_parameters())
        named = list(net.named_parameters())
        hidden = optimizer.hidden if isinstance(optimizer, Muon) else set()
        decayed = optimizer._apply_decay_param_fun
        # Three ranges: AdamW with decay of the weights, without, and Muon.
        trained = sorted(
            ((name, p) for name, p in named if not p.stop_gradient),
            key=lambda entry: (entry[1].name in hidden, not decayed(entry[1].name)),
        )
        statistics = [(name, p) for name, p in named if p.stop_gradient]
        parameters = [parameter for _, parameter in trained]
        self._names = [[name for name, _ in entries] for entries in (trained, statistics)]
        self._adam_count = sum(p.name not in hidden for p in parameters)
        self._decayed_count = sum(p.name not in hidden and decayed(p.name) for p in parameters)
        optimizer._create_accumulators(paddle.static.default_main_program().global_block(), parameters)
        kinds = optimizer._moment1_acc_str, optimizer._moment2_acc_str
        self._moments = [FlatTensors([optimizer._get_accumulator(kind, p) for p in parameters]) for kind in kinds]
        self._powers = [paddle.full([1], beta) for beta in (optimizer._beta1, optimizer._beta2)]
        for kind, power in zip((optimizer._beta1_pow_acc_str, optimizer._beta2_pow_acc_str), self._powers):
            for parameter in parameters[: self._adam_count]:
                optimizer._accumulators[kind][parameter.name] = power
        self._weights = FlatTensors(parameters)
        self._averages = FlatTensors([averages[name] for name in self._names[0]])
        self._statistics = FlatTensors([p for _, p in statistics]) if statistics else None
        self._mean_statistics = FlatTensors([averages[name] for name in self._names[1]]) if statistics else None
        self._betas = [paddle.full([1], beta) for beta in (optimizer._beta1, optimizer._beta2)]
        self._one, self._zero = paddle.ones([1]), paddle.zeros([1])
        self._no_scaler = paddle.ones([1]), paddle.zeros([1], "int32"), paddle.zeros([1], "int32")
        self._share = paddle.full([1], 1 - MOMENTUM)
        self.updates = paddle.zeros([1])

    @paddle.no_grad()
    def enqueue(self, loss: paddle.Tensor, precision: Precision, clip: float, rate: float) -> HostCopy:
        """Enqueue the update by the gradients of `net`. Return its result: loss, norm, 1 or 0 if skipped, loss scale.

        All memory is requested before anything is changed, except some elements.
        """
        gradient = self._weights.join(parameter.grad for parameter in self._weights.tensors)
        scaler = precision.scaler if precision.scaler is not None and precision.scaler.is_enable() else None
        scale = self._one if scaler is None else scaler.tensor
        length = paddle._C_ops.squared_l2_norm(gradient).sqrt()
        finite = paddle.isfinite(length)
        applied = finite.astype("float32")
        norm = length / scale
        factor = paddle.where(finite, (clip / (norm + 1e-6)).clip(max=1.0) / scale, self._zero)
        overflow = paddle.logical_not(finite)
        # Sets the gradient to zeros after an overflow: infinity times 0 is not a number.
        if scaler is not None:
            scaler.update_on_device(gradient, overflow)
        else:
            paddle._C_ops.update_loss_scaling_([gradient], overflow, *self._no_scaler, 1, 1, 2.0, 0.5, True)
        gradient.multiply_(factor)
        step = self._muon_step(gradient, applied) if self._adam_count < len(self._weights.tensors) else None
        square = gradient._slice(0, self._weights.starts[self._adam_count]).square() if self._adam_count else None
        if square is not None:
            self._apply_adam(gradient, square, applied, rate)
        if step is not None:
            self._apply_muon(*step, applied, rate)
        self._update_average(applied)
        values = [loss.astype("float32").reshape([1]), norm, applied, scale]
        return HostCopy([paddle.concat(values)])

    def _apply_adam(self, gradient: paddle.Tensor, square: paddle.Tensor, applied: paddle.Tensor, rate: float) -> None:
        """Move the moments, by factors that are 0 after an overflow, then the weights by Paddle's AdamW.

        With decay rates of 0 and 1, and the first moment as the gradient, AdamW leaves these moments as they are.
        """
        optimizer, count = self.optimizer, self._adam_count
        first, second = (moments.range(0, count) for moments in self._moments)
        first.lerp_(gradient._slice(0, len(square)), applied * (1 - optimizer._beta1))
        second.lerp_(square, applied * (1 - optimizer._beta2))
        rates = applied * rate
        for begin, end, decay in (
            (0, self._decayed_count, optimizer._weight_decay),
            (self._decayed_count, count, 0.0),
        ):
            if begin == end:
                continue
            first, second = (moments.range(begin, end) for moments in self._moments)
            paddle._C_ops.adamw_(
                self._weights.range(begin, end),
                first,
                rates,
                first,
                second,
                None,  # maxima of the second moments, of AMSGrad
                *self._powers,
                None,  # 32-bit copies of 16-bit weights
                None,  # Paddle would read from the GPU if the update is to be skipped
                0.0,
                1.0,
                optimizer._epsilon,
                1.0,
                decay,
                bool(decay),
                False,  # no sparse gradients
                1000,
                False,
                True,  # the powers of the decay rates are updated here
                False,
            )
        for power, beta in zip(self._powers, self._betas):
            power.multiply_(paddle.where(applied > 0, beta, self._one))

    def _muon_step(self, gradient: paddle.Tensor, applied: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        """Return the new momentum of the layers of Muon, and their step for a learning rate of 1."""
        count, layout = self._adam_count, self._weights
        gradient = gradient._slice(layout.starts[count], layout.starts[-1])
        momentum = self._moments[0].range(count, len(layout.tensors)).lerp(gradient, applied * (1 - MOMENTUM))
        update = momentum.lerp(gradient, self._share)  # Nesterov momentum
        directions = []
        for shape, at in zip(layout.shapes[count:], layout.starts[count:]):
            at -= layout.starts[count]
            rows, columns = shape[0], int(np.prod(shape[1:]))
            matrix = update._slice(at, at + rows * columns).reshape([rows, columns])
            directions.append(orthogonal_fused(matrix, scale=ADAM_SCALE * max(rows, columns) ** 0.5))
        return momentum, layout.join(directions, first=count)

    def _apply_muon(self, momentum: paddle.Tensor, step: paddle.Tensor, applied: paddle.Tensor, rate: float) -> None:
        count, total = self._adam_count, len(self._weights.tensors)
        paddle.assign(momentum, self._moments[0].range(count, total))
        weights = self._weights.range(count, total)
        weights.multiply_(paddle.scale(applied, -rate * self.optimizer._weight_decay, 1.0))
        weights.subtract_(step.multiply_(applied * rate))

    def _update_average(self, applied: paddle.Tensor) -> None:
        """Move the averages; by how much is explained in `Learner._update_mean`."""
        self.updates.add_(applied)
        share = applied * (9.0 / (self.updates + 10.0)).clip(min=1 - self.average) if self.average else applied
        self._averages.whole.lerp_(self._weights.whole, share)
        if self._statistics is not None and self._mean_statistics is not None:
            averages, current = self._mean_statistics.whole, self._statistics.whole
            averages.lerp_(paddle.where(paddle.isfinite(current), current, averages), share)

    # --- content of a checkpoint -----------------------------------------------------------------

    @property
    def is_intact(self) -> bool:
        """True while all weights and moments are parts of the tensors that are updated."""
        flats = [*self._moments, self._weights, self._averages, self._statistics, self._mean_statistics]
        return all(flat.is_intact for flat in flats if flat is not None)

    def copy_state(self) -> tuple[HostCopy, Sequence[FlatTensors]]:
        """Begin to copy weights and statistics, averages, and moments to the host."""
        flats = [self._weights, self._averages, *self._moments]
        flats += [flat for flat in (self._statistics, self._mean_statistics) if flat is not None]
        return HostCopy([*(flat.whole for flat in flats), *self._powers]), flats

    def named_state(self, state: tuple[HostCopy, Sequence[FlatTensors]]) -> tuple[Arrays, Arrays, Arrays]:
        """Return weights, optimizer state and averages of `copy_state`, by their names in a checkpoint."""
        copy, flats = state
        wholes = copy.read()
        weights, averages, *moments = [flat.arrays(whole) for flat, whole in zip(flats, wholes)]
        trained, statistics = self._names
        optimizer = self.optimizer
        stored: Arrays = {}
        for kind, arrays in zip((optimizer._moment1_acc_str, optimizer._moment2_acc_str), moments):
            stored |= {f"{kind}/{name}": array for name, array in zip(trained, arrays)}
        powers = zip(
            (optimizer._beta1_pow_acc_str, optimizer._beta2_pow_acc_str),
            wholes[-2:],
            (optimizer._beta1, optimizer._beta2),
        )
        for kind, power, beta in powers:
            stored |= {f"{kind}/{name}": power.copy() for name in trained[: self._adam_count]}
            unused = trained[self._adam_count :]  # Muon has no such powers, Paddle stores them
            stored |= {f"{kind}/{name}": np.full(1, beta, np.float32) for name in unused}
        own, mean = (dict(zip(trained, arrays)) for arrays in (weights, averages))
        if statistics:
            own, mean = own | dict(zip(statistics, moments[2])), mean | dict(zip(statistics, moments[3]))
        return own, stored, mean
