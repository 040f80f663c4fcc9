"""Every metric of the engine in one place. prometheus-client is imported on first use; each verifier has its own registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

Stage = Literal["tokenize", "queue", "inference", "total"]
Refusal = Literal["deadline", "queue_full"]
_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class Metrics:
    """Counters, gauges and histograms under the prefix `entailgrid_`; all methods may be called from any thread."""

    def __init__(self, token_budget: int) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry: CollectorRegistry = CollectorRegistry()
        self._token_budget = token_budget

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"entailgrid_{name}", text, labels, registry=self.registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"entailgrid_{name}", text, labels, buckets=buckets, registry=self.registry)

        self.queue_tokens = Gauge("entailgrid_queue_tokens", "Tokens that wait for the device", registry=self.registry)
        self._fill = histogram("batch_fill", "Tokens of a batch (padding counted) / token budget", _SHARES, "lane")
        self._padding = histogram("batch_padding_share", "Padding / tokens of a batch", _SHARES, "lane")
        self._inputs = counter("inputs", "Model inputs by what became of them", "lane", "outcome")
        self._pairs = counter("pairs", "Claim-source pairs by what became of them", "outcome")
        self._requests = counter("requests", "Requests by how they ended", "outcome")
        self._on_time = counter("requests_with_budget", "Requests with a latency budget", "on_time")
        self._refusals = counter("refusals", "Requests refused", "reason")
        self._stages = histogram("stage_seconds", "Seconds of a request by stage", _SECONDS, "stage")
        self._busy = counter("device_seconds", "Seconds in the model", "lane")
        self.cache_degraded = Gauge(
            "entailgrid_cache_degraded", "1 while the cache store is out of use", registry=self.registry
        )

    def coalesced(self, lane: str) -> None:
        self._inputs.labels(lane, "coalesced").inc()

    def ran(self, lane: str, rows: int, tokens: int, padded: int, seconds: float) -> None:
        self._inputs.labels(lane, "run").inc(rows)
        self._fill.labels(lane).observe(padded / self._token_budget)
        self._padding.labels(lane).observe(1 - tokens / padded)
        self._busy.labels(lane).inc(seconds)

    def pairs(self, *, scored: int, cached: int, skipped: int) -> None:
        for outcome, count in (("scored", scored), ("cached", cached), ("skipped", skipped)):
            self._pairs.labels(outcome).inc(count)

    def stage(self, name: Stage, seconds: float) -> None:
        self._stages.labels(name).observe(max(0.0, seconds))

    def ended(self, outcome: str, on_time: bool | None) -> None:
        """`outcome`: a decision or the name of an error; `on_time` None where there was no budget."""
        self._requests.labels(outcome).inc()
        if on_time is not None:
            self._on_time.labels("yes" if on_time else "no").inc()

    def refused(self, reason: Refusal) -> None:
        self._refusals.labels(reason).inc()

    def text(self) -> str:
        """The registry in the Prometheus text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry).decode()
