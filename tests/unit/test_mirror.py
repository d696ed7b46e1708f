"""Each test module of this folder is about one module of the library, and says so by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "publicmoments"

ELSEWHERE = {
    "experiments": "figures of the paper, which are in the repository and not in the library",
}
"""Folders of tests that mirror no room, and why."""

UNTESTED_HERE = {
    "__main__": "two lines, run by every test of the command line",
    "version": "a number",
    "arrays": "names of types, and copies that every record makes",
    "cli/columns": "chosen by `cli/test_pmt_model.py` in every command",
    "cli/demo": "one command, in `cli/test_main_commands.py`",
    "cli/failures": "words of errors, in `contract/test_cli_errors.py`",
    "cli/inputs": "opened in `cli/test_pmt_model.py`; broken ones in `contract/test_cli_errors.py`",
    "cli/outputs": "in `contract/test_cli_errors.py` and `faults/test_full_disk.py`",
    "cli/parsing": "help of every command, in `cli/test_main_commands.py`",
    "cli/pmt_ledger": "one command, in `cli/test_main_commands.py`",
    "cli/pmt_paper": "one command, in `cli/test_main_commands.py`",
    "cli/pmt_plan": "one command, in `cli/test_main_commands.py`",
    "cli/pmt_public": "one command, in `cli/test_main_commands.py`",
    "cli/pmt_release": "one command, in `cli/test_main_commands.py`",
    "data/asking": "words about sources, in `contract/test_sources.py`",
    "data/dask": "a source like the others, in `contract/test_sources.py`",
    "data/labels": "in `data/test_table.py`, and hostile ones in `noninterference/`",
    "data/names": "in `data/test_table.py` and `contract/test_sources.py`",
    "data/opening": "in `contract/test_sources.py`",
    "data/reading": "in `data/test_table.py`",
    "families/further": "each family like the others, in `families/test_canonical.py`",
    "io/atomic": "kills and full disks, in `faults/test_full_disk.py`",
    "models/mismatch": "warnings of whole fits, in `statistical/test_mismatch.py`",
    "models/moments": "an old address, in `release/test_releasing.py`",
    "models/poisson": "beside the models it is one of, in `models/test_glm.py`",
    "models/problem": "beside the fit it states, in `models/test_estimator.py`",
    "planner/forecasts": "what plans show, in `planner/test_plans.py`",
    "planner/rehearsal": "what plans rest on, in `planner/test_plans.py`",
    "privacy/ledger/accounts": "in `models/test_shell_ledger.py`",
    "privacy/ledger/database": "in `privacy/ledger/test_book.py` and `faults/`",
    "privacy/ledger/schema": "a table, in `privacy/ledger/test_book.py`",
    "privacy/ledger/squares": "sums of charges, in `privacy/ledger/test_book.py` and `property/`",
    "public/arguments": "in `public/test_moments.py`",
    "public/joint": "in `public/test_moments.py` and `public/test_design.py`",
    "public/suspicion": "in `models/test_shell_mistakes.py`",
    "public/validation": "in `public/test_moments.py`",
    "release/moment_card": "a card like the others, in `release/test_releasing.py`",
    "release/readings": "a list of views, in `release/views/`",
    "release/record": "in `release/test_releasing.py` and `release/test_release_file.py`",
    "release/second_moment": "in `release/views/`",
    "release/views/moment_fit": "in `release/views/test_regression.py`",
    "release/views/questions": "in `release/views/test_regression.py`",
    "report/calls": "texts of a page, in `report/html/test_page.py`",
    "report/card": "an old address, in `report/test_content.py`",
    "report/parts": "parts of a page, in `report/html/test_page.py`",
    "report/html/charts": "parts of a page, in `report/html/test_page.py`",
    "report/html/estimates": "parts of a page, in `report/html/test_page.py`",
    "report/html/markup": "parts of a page, in `report/html/test_page.py`",
    "rows/kernel": "what recipes become, in `rows/test_recipe.py` and `property/test_rows.py`",
}
"""Modules of the library without tests of their own here, and where else they are looked at."""


def modules() -> set[str]:
    """Modules of the library, by their path."""
    found = (path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("*.py"))
    return {path.as_posix() for path in found if path.name != "__init__"}


def mirrored(test: Path) -> str | None:
    """Return the longest name of a module that the name of a test module begins with."""
    folder, words = test.relative_to(HERE).parent, test.stem.removeprefix("test_").split("_")
    names = ((folder / "_".join(words[:count])).as_posix() for count in range(len(words), 0, -1))
    return next((name for name in names if name in modules()), None)


def files() -> list[Path]:
    """Test modules of this folder, but for this one and those that mirror nothing."""
    found = (path for path in sorted(HERE.rglob("test_*.py")) if path.name != "test_mirror.py")
    return [path for path in found if path.relative_to(HERE).parts[0] not in ELSEWHERE]


@pytest.mark.parametrize("test", files(), ids=lambda path: path.name)
def test_each_test_module_has_a_module(test):
    assert mirrored(test), f"{test.name} is about no module; name it test_MODULE.py or _ASPECT"


def test_each_module_has_a_test_module_or_a_reason():
    tested = {mirrored(test) for test in files()}
    assert sorted(modules() - tested - set(UNTESTED_HERE)) == []
    assert sorted(set(UNTESTED_HERE) & tested) == [], "reasons that are no longer needed"
    assert sorted(set(UNTESTED_HERE) - modules()) == [], "reasons for modules that are gone"
