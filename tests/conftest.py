"""Shared fixtures: where the paper's data sets are, and that CI may not skip them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder with the paper's nine data sets (STEELYARD_DATA), or a skip without it."""
    folder = os.environ.get("STEELYARD_DATA")
    if not folder:
        if os.environ.get("STEELYARD_REQUIRE_DATA"):
            pytest.fail("STEELYARD_REQUIRE_DATA is set but STEELYARD_DATA is not")
        pytest.skip("STEELYARD_DATA is not set")
    return Path(folder)
