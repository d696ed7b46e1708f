"""Bugs that are planted in a copy of the library are caught by its suite."""

from __future__ import annotations

import pytest

from audit.mutations import MUTATIONS, ROOT, Mutation, plant

FEW = [
    "sensitivity halved",
    "noise missing on the diagonal",
    "charge after the release",
    "share of truncated rows in an attribute",
]


@pytest.mark.parametrize("name", FEW)
def test_a_planted_bug_is_caught(name):
    outcome = plant(MUTATIONS[name])
    assert outcome.caught, outcome.by
    assert "::test_" in outcome.by


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_bug_can_be_planted(name):
    mutation = MUTATIONS[name]
    text = (ROOT / "src" / "publicmoments" / mutation.module).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1
    compile(text.replace(mutation.old, mutation.new), mutation.module, "exec")
    for test in mutation.tests:
        assert (ROOT / test.partition("::")[0]).exists()


def test_a_harmless_change_is_not_called_caught():
    harmless = Mutation(
        "nothing", "checks.py", "if not 0 < number < math.inf:", "if not 0.0 < number < math.inf:",
        ("tests/unit/test_checks.py",),
    )  # fmt: skip
    outcome = plant(harmless)
    assert not outcome.caught
    assert outcome.by == "pytest ended with code 0"
