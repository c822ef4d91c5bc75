# SPDX-License-Identifier: Apache-2.0
"""Both webhooks, controller-runtime's and berth's, on the same reviews; and berth's beside attacks."""
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import programs
from admission_review import make_review
from controller_memory import memory_of
from webhook_load import Webhook, make_certificate


def webhook_load(command, review, environment=()):
    """What one webhook does under load: its decisions, and what they cost."""
    with Webhook(command, environment) as server:
        decisions = [server.decision(review, path) for path in ("mutate", "validate")]
        report = {"mutate_rps": server.closed_loop(review, "mutate"), "validate_rps": server.closed_loop(review, "validate"),
                  "rss_mib": memory_of(server.process.pid)[0], "p99_ms": server.fixed_rate(review, "mutate")}
    return decisions, report


def webhook_rounds(rounds):
    """Both webhooks in turn: [(controller-runtime's report, berth's report)]."""
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder)
        review = Path(folder) / "review.json"
        review.write_text(json.dumps(make_review(), separators=(",", ":")))
        for number in range(1, rounds + 1):
            programs.say(f"webhooks, round {number} of {rounds}")
            decided, peer = webhook_load([programs.PEERS / "webhook", "-certificates", folder], review, {"GOMAXPROCS": "1"})
            decided_too, ours = webhook_load([programs.BUILD / "webhook_bench", folder], review)
            if decided != decided_too:
                raise SystemExit(f"bench: the two decide differently:\n{json.dumps(decided)}\n{json.dumps(decided_too)}")
            pairs.append((peer, ours))
    return pairs


def webhook_figures(pairs):
    middle = lambda side, name: round(statistics.median(pair[side][name] for pair in pairs), 2)
    for figure, name, ratio in [("webhook.mutate.rps_ratio", "mutate_rps", lambda peer, ours: ours / peer),
                                ("webhook.validate.rps_ratio", "validate_rps", lambda peer, ours: ours / peer),
                                ("webhook.p99_ratio", "p99_ms", lambda peer, ours: peer / ours)]:
        value = statistics.median(ratio(peer[name], ours[name]) for peer, ours in pairs)
        yield figure, value, {"rounds": len(pairs), "controller_runtime": middle(0, name), "berth": middle(1, name)}, True
    yield ("webhook.rss_mib", middle(1, "rss_mib"), {"rounds": len(pairs), "controller_runtime_mib": middle(0, "rss_mib")}, True)


def attacked():
    """The row of the attack beside which reviews wait for longest, of those that cost berth nothing but places."""
    programs.say("attacks")
    attack = subprocess.Popen(["/usr/bin/python3", programs.ROOT / "tests" / "attack" / "attack.py", programs.BUILD / "berth", "--long", "--json", "--figure"],
                              stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in attack.stdout]
    attack.wait()
    return max(rows, key=lambda row: row["p99_ms"]), all(not row["failures"] for row in rows)
