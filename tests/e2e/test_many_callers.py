"""Many callers at once, cancels and refusals through the verifier itself."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from entailgrid import Report, Verifier
from entailgrid.errors import Overloaded

TRACE: dict[str, Any] = {
    "id": "t",
    "answer": "According to the account record, the plan has 12 seats.",
    "sources": [{"id": "a", "name": "account record", "text": "Account A-17. Plan: Premium. Seats: 12."}],
}
EXAMPLES = [json.loads(path.read_text()) for path in sorted((Path(__file__).parents[2] / "examples").glob("*.json"))]


def test_64_threads_and_1000_tasks_on_one_verifier() -> None:
    with Verifier() as verifier:
        expected = verifier.verify(TRACE)
        found: list[Report] = []

        def work() -> None:
            found.extend(verifier.verify(TRACE) for _ in range(3))

        threads = [threading.Thread(target=work) for _ in range(64)]
        for thread in threads:
            thread.start()

        async def tasks() -> list[Report]:
            return await asyncio.gather(*(verifier.averify(TRACE) for _ in range(1000)))

        found += asyncio.run(tasks())
        for thread in threads:
            thread.join(60)
    assert len(found) == 64 * 3 + 1000
    assert all(report.same_as(expected) for report in found)


def test_a_cancelled_request_is_dropped_and_harms_nobody() -> None:
    with Verifier(cache=None) as verifier:
        busy = [verifier.submit(trace) for trace in EXAMPLES]
        gone = [verifier.submit(trace) for trace in EXAMPLES]
        assert any(future.cancel() for future in gone)
        for future in gone:
            if future.cancelled():
                with pytest.raises(CancelledError):
                    future.result()
            else:
                assert future.result()
        assert all(future.result() for future in busy)
        assert verifier.verify(TRACE).decision == "allow"


def test_what_load_makes_late_is_refused_with_a_time_to_retry() -> None:
    with Verifier(cache=None) as verifier:
        for _ in range(3):
            verifier.verify(TRACE)
        running = [verifier.submit(trace, stakes="high") for trace in EXAMPLES * 3]
        with pytest.raises(Overloaded) as refusal:
            verifier.submit(TRACE, budget_ms=300)
        assert refusal.value.retry_after > 0
        assert 'entailgrid_refusals_total{reason="deadline"} 1.0' in verifier.metrics()
        assert verifier.submit(TRACE, budget_ms=60_000).result().decision == "allow"
        assert all(future.result() for future in running)
