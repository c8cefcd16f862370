"""Ctrl-C ends every fit at once, with a KeyboardInterrupt and nothing else."""

import signal
import subprocess
import sys
import time

import pytest

# Each of these fits would take minutes.
LONG_FITS = {
    "paper": "RuleSetClassifier(preset='paper', n_candidates=30_000_000{})",
    "short": "RuleSetClassifier(preset='short', n_candidates=30_000_000{})",
    "boosted": "BoostedRulesClassifier(n_tries=3000{})",
    "ripper": "RipperClassifier(optimizations=10_000{})",
    "rule sets, tuned": "RuleSetClassifierCV(preset='paper', n_candidates=30_000_000{})",
    "boosted, tuned": "BoostedRulesClassifierCV(n_tries=3000{})",
}
# One after the other, so that the imports are paid for once.
PROGRAM = """
import time, traceback
from steelyard import *
data = make_planted_rules(3000, noise=0.1, random_state=0)
for classifier in [{}]:
    print("ready", flush=True)
    try:
        classifier.fit(data.X, data.Y)
    except KeyboardInterrupt:
        traceback.print_exc()
    finally:
        print(time.time(), flush=True)
"""


# A thread may finish its label after the interrupt, so with two of them each fit has its process.
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(
    ("fits", "n_jobs"),
    [
        (list(LONG_FITS), 1),
        *(([name], 2) for name in ("paper", "boosted", "ripper", "rule sets, tuned")),
    ],
    ids=str,
)
def test_an_interrupt_ends_the_fit(fits, n_jobs):
    made = [LONG_FITS[name].format(f", random_state=0, n_jobs={n_jobs}") for name in fits]
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM.format(", ".join(made))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            for _ in fits:
                assert process.stdout.readline() == "ready\n"
                time.sleep(0.5)  # learning has begun
                process.send_signal(signal.SIGINT)
                sent = time.time()
                assert float(process.stdout.readline()) - sent < 2
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 0
    assert errors.count("Traceback") == len(fits)
    assert errors.splitlines().count("KeyboardInterrupt") == len(fits)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "SystemError" not in errors
