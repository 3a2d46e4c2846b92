"""Settings of all tests."""

import ndjit
import pytest


@pytest.fixture(autouse=True)
def policy():
    """Each test begins with the default policy."""
    ndjit.set_policy("standard")
    yield
    ndjit.set_policy("standard")
