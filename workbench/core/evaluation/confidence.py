"""Quantiles and limits for intervals; core/evaluation/intervals.py states those of figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

Z = 1.959963984540054  # 97.5 % quantile of the normal distribution

# With fewer observations, the 95 % interval of a share may span 40 points and more (Wilson's for 10 of 19 is 32 to 73
# %): a single number would claim too much precision, so only the interval is shown.
MIN_OBSERVATIONS = 20

# 97.5 % quantiles of Student's distribution for 1 to 4 degrees of freedom; above, a series is exact to three digits.
_STUDENT_QUANTILES = (12.706, 4.303, 3.182, 2.776)


def digits_supported(total: int) -> bool:
    """Return True if a share of `total` observations is precise enough to be shown as one number."""
    return total >= MIN_OBSERVATIONS


def garwood_interval(count: float, exposure: float) -> list[float]:
    """Return the exact 95 % interval of a Poisson rate: `count` events in `exposure` units (Garwood 1936).

    count may be fractional, an effective number of events.
    """
    low = _gamma_quantile(count, 0.025) if count > 0 else 0.0
    return [low / exposure, _gamma_quantile(count + 1, 0.975) / exposure]


def upper_limit(hits: int, total: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper limit of a share (Clopper and Pearson 1934); 1 without observations.

    Without hits it is 1 - (1 - confidence) ** (1 / total), about 3 / total.
    """
    if hits >= total:
        return 1.0
    low, high = hits / total, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binomial_cdf(hits, total, middle) > 1 - confidence else (low, middle)
    return (low + high) / 2


def binomial_cdf(hits: int, total: int, share: float) -> float:
    """Return the probability of at most `hits` among `total` independent observations of this share."""
    if share <= 0 or share >= 1:
        return float(share <= 0)
    constant = math.lgamma(total + 1)
    logs = (
        constant
        - math.lgamma(k + 1)
        - math.lgamma(total - k + 1)
        + k * math.log(share)
        + (total - k) * math.log1p(-share)
        for k in range(hits + 1)
    )
    return math.fsum(map(math.exp, logs))


def student_quantile(degrees: float) -> float:
    """Return the 97.5% quantile of Student's t (Cornish and Fisher's series; Abramowitz and Stegun 26.7.5).

    Of up to 4 degrees of freedom, it is that of the next lower integer, at least of 1.
    """
    whole = max(1, int(degrees + 1e-9))
    if whole <= len(_STUDENT_QUANTILES):
        return _STUDENT_QUANTILES[whole - 1]
    z, n = Z, float(degrees)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3


@lru_cache(maxsize=64)
def student_tail(tail: float, degrees: int) -> float:
    """Return the value that Student's t exceeds with the probability `tail`, at most 0.5: t = sqrt(degrees) tan(angle),
    where the density of the angle is a power of its cosine.
    """
    angles = np.linspace(np.pi / 2, 0, 20001)
    above = np.cumsum(np.cos(angles) ** (degrees - 1))
    return math.sqrt(degrees) * math.tan(float(np.interp(2 * tail, above / above[-1], angles)))


def beta_below(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b), 0 for b = 0 and about 1 for a below 0.5.

    It is the probability of at least `a` among a + b - 1 trials of the share x.
    """
    if b <= 0 or a <= 0.5:
        return float(a <= 0.5)
    angles = np.linspace(1e-9, math.asin(math.sqrt(x)), 800)
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    logs = (2 * a - 1) * np.log(np.sin(angles)) + (2 * b - 1) * np.log(np.cos(angles)) + constant
    return min(1.0, float(2 * np.trapezoid(np.exp(logs), angles)))


def falling_root(function: Callable[[float], float], most: float) -> float:
    """Return where a falling function crosses 0 between 0 and `most`; the nearer end if it does not."""
    low, high = 0.0, most
    if function(low) <= 0 or function(high) > 0:
        return low if function(low) <= 0 else most
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def _gamma_quantile(shape: float, probability: float) -> float:
    """Return the `probability` quantile of the gamma distribution of scale 1, by bisection."""
    low, high = 0.0, max(4.0, shape + 12 * math.sqrt(shape) + 12)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if _gamma_cdf(shape, middle) < probability else (low, middle)
    return (low + high) / 2


def _gamma_cdf(shape: float, x: float) -> float:
    """Return the regularized lower incomplete gamma function.

    Up to shape + 1 by its series, beyond by the continued fraction of its complement (Abramowitz and Stegun 6.5.29 and
    6.5.31, the latter by Lentz's method).
    """
    if x <= 0:
        return 0.0
    scale = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        denominator = shape
        while abs(term) > abs(total) * 1e-15:
            denominator += 1
            term *= x / denominator
            total += term
        return min(1.0, total * scale)
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10_000):
        a = -i * (i - shape)
        b += 2
        d = 1 / (a * d + b or 1e-300)
        c = b + a / c or 1e-300
        fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return max(0.0, 1 - scale * fraction)
