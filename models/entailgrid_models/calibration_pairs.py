"""Pairs of the kinds that entailgrid reads (prose, records, tables, JSON, notes), to calibrate a model on."""

from __future__ import annotations

_SAMPLES: tuple[tuple[str, str, str], ...] = (
    (
        "Premium plans include a refund window of 30 days from the date of purchase. Basic plans cannot be refunded.",
        "Premium customers can get their money back within 30 days.",
        "Basic plans can be refunded within two weeks.",
    ),
    (
        "Order 4471. status: shipped | carrier: Northline | items: 3 | total: 129.90 EUR | shipped_at: 2024-03-18T09:12:00Z",
        "Order 4471 was shipped on 18 March 2024.",
        "The order is still being packed.",
    ),
    (
        '{"flight": "QX 208", "from": "OSL", "to": "LIS", "departure": "07:35", "seats_left": 4, "refundable": false}',
        "Flight QX 208 from Oslo to Lisbon leaves at 7:35 in the morning.",
        "Tickets for QX 208 are fully refundable.",
    ),
    (
        "A man in a blue shirt is standing on a ladder cleaning a window.",
        "Someone is cleaning a window.",
        "The man is asleep on the sofa.",
    ),
    (
        "Two children are playing football on the beach while their parents watch from under an umbrella.",
        "Kids are playing outdoors.",
        "The children are brother and sister.",
    ),
    (
        "Amoxicillin 500 mg, one capsule three times daily for 7 days. Allergies: none recorded. Weight: 71.5 kg.",
        "The patient takes 1,500 mg of amoxicillin a day.",
        "The patient is allergic to penicillin.",
    ),
    (
        "Quarter | Revenue | Margin\nQ1 2023 | $4.2M | 31%\nQ2 2023 | $4.9M | 29%\nQ3 2023 | $5.6M | 33%",
        "Revenue grew in every quarter shown.",
        "The margin fell below 25% in the second quarter of 2023.",
    ),
    (
        "HTTP 404: no customer with id 88213 was found. Please check the number and try again.",
        "There is no customer with the number 88213.",
        "The customer's account was closed last year.",
    ),
    (
        "The treatment group showed a mean reduction in systolic pressure of 8.3 mmHg (95% CI 5.1 to 11.4; p < 0.001).",
        "The drug lowered blood pressure significantly.",
        "There was no difference between the treatment and placebo groups.",
    ),
    (
        "Marie Keller. Born: 4 June 1951, Graz | Occupation: architect | Years active: 1976-2014 | Spouse: Jonas Keller",
        "Marie Keller was an architect for more than thirty years.",
        "Marie Keller was born in Vienna.",
    ),
    (
        "Tickets must be cancelled at least 24 hours before the event; otherwise the full price is charged, except in case "
        "of illness confirmed by a doctor.",
        "Cancelling an hour before the event costs the full price unless you are ill.",
        "Cancellation is always free.",
    ),
    (
        "The bridge, which opened in 1932, carries eight lanes of traffic and two railway tracks over the harbour.",
        "Trains can cross the bridge.",
        "The bridge was closed in 1932.",
    ),
    (
        "commit 9f3c2e1 fixes issue #1207: retry_count was read before the lock was taken (src/queue/worker.py, line 88).",
        "Issue #1207 concerned a race in worker.py.",
        "The fix raises the number of retries to ten.",
    ),
    (
        "Opening hours: Monday to Friday 9:00-17:30, Saturday 10:00-14:00, closed on Sundays and public holidays.",
        "The shop is open on Saturday mornings.",
        "The shop opens at noon on Sundays.",
    ),
    (
        "temperature: -12.4 °C | wind: 38 km/h NW | visibility: 900 m | warning: drifting snow until 06:00",
        "It is well below freezing and windy.",
        "No weather warning is in force.",
    ),
    (
        "Although every student handed in the essay, only some of them passed, and none received the highest mark.",
        "No student received the highest mark.",
        "All students passed.",
    ),
    (
        "Le remboursement est possible sous 14 jours. Für Geschäftskunden gilt eine Frist von 30 Tagen. 東京支店は休業です。",
        "Private customers have 14 days to ask for a refund.",
        "The Tokyo branch is open.",
    ),
    (
        "The board rejected the merger by seven votes to two, citing debts of roughly 1.2 billion dollars.",
        "Most of the board voted against the merger.",
        "The merger was completed without objection!",
    ),
    (
        "user_id=5519; plan=team; seats=12/25; renewal=2025-01-31; auto_renew=true; balance=-40.00; currency=USD",
        "The team plan has 13 free seats.",
        "The plan will not renew automatically.",
    ),
    (
        "A brown dog runs through the snow with a stick in its mouth.",
        "An animal is outside.",
        "The dog is swimming in a lake; nobody is near it.",
    ),
)

_WHOLE = "\n".join(premise for premise, _, _ in _SAMPLES)

PAIRS: tuple[tuple[str, str], ...] = (
    *((premise, hypothesis) for premise, *hypotheses in _SAMPLES for hypothesis in hypotheses),
    *((" ".join(premise for premise, _, _ in _SAMPLES[i : i + 4]), _SAMPLES[i][1]) for i in range(0, len(_SAMPLES), 2)),
    (_WHOLE, _SAMPLES[0][1]),
    ("", _SAMPLES[0][1]),
    ("yes", "no"),
)
"""(premise, hypothesis), from two words to the longest input of most models."""
