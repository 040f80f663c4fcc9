"""Seconds that a batch takes, fitted while it runs: `a + b * tokens + c * rows`, padding counted among the tokens."""

from __future__ import annotations

import math

import numpy as np

_PRIOR = np.array([2e-3, 7e-5, 5e-5])
"""Where nothing was measured yet: two CPU cores and a MiniLM-L6."""
_SCALE = np.array([1.0, 1e-3, 1e-2])
"""Brings constant, tokens and rows to one magnitude, so that one ridge fits all three."""


class CostModel:
    """Recursive least squares with forgetting (Haykin, Adaptive Filter Theory, chapter on RLS), coefficients kept positive.

    `forgetting`: weight of a batch beside the one after it; 0.98 looks back over about 50 batches.
    """

    def __init__(self, forgetting: float = 0.98) -> None:
        self._forgetting = forgetting
        self._weights = _PRIOR / _SCALE
        self._covariance = np.diag(np.full(3, 10.0))
        self.observed = 0

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """Seconds a batch, a token, a row."""
        a, b, c = np.maximum(self._weights * _SCALE, (0.0, 1e-9, 0.0))
        return float(a), float(b), float(c)

    def seconds(self, tokens: float, rows: float) -> float:
        """Of one batch of `rows` sequences and `tokens` tokens, padding included."""
        a, b, c = self.coefficients
        return a + b * tokens + c * rows

    def work(self, tokens: float, rows: float, token_budget: int) -> float:
        """Of `tokens` in `rows` sequences spread over as many batches of `token_budget` as they need."""
        a, b, c = self.coefficients
        return a * math.ceil(tokens / token_budget) + b * tokens + c * rows if tokens else 0.0

    def observe(self, tokens: int, rows: int, seconds: float) -> None:
        """Learn from one batch. A stall (eight times what was expected) counts as twice the expectation."""
        expected = self.seconds(tokens, rows)
        if self.observed >= 8 and seconds > 8 * expected:
            seconds = 2 * expected
        x = np.array([1.0, tokens, rows]) * _SCALE
        gain = self._covariance @ x / (self._forgetting + x @ self._covariance @ x)
        self._weights = self._weights + gain * (seconds - self._weights @ x)
        self._covariance = (self._covariance - np.outer(gain, x) @ self._covariance) / self._forgetting
        trace = float(np.trace(self._covariance))
        if trace > 100.0:  # equal batches excite one direction only: without a bound the others blow up
            self._covariance *= 100.0 / trace
        self.observed += 1
