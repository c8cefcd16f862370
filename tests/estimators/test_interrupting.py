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
PROGRAM = """
import time
from steelyard import *
data = make_planted_rules(3000, noise=0.1, random_state=0)
classifier = {}
print("ready", flush=True)
try:
    classifier.fit(data.X, data.Y)
finally:
    print(time.time(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("fit", LONG_FITS)
def test_an_interrupt_ends_the_fit(fit, n_jobs):
    program = PROGRAM.format(LONG_FITS[fit].format(f", random_state=0, n_jobs={n_jobs}"))
    command = [sys.executable, "-W", "ignore", "-c", program]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.7)  # learning has begun
            process.send_signal(signal.SIGINT)
            sent = time.time()
            ended, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert float(ended) - sent < 2
    assert errors.count("Traceback") == 1
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "SystemError" not in errors
