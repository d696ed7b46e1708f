"""What keeps a ledger's promise where a name is wrong, or a cap is stated as epsilon and delta."""

import getpass
import math
import sqlite3
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from publicmoments import GDP, ZCDP, ApproxDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.privacy import BudgetExceeded, Ledger
from publicmoments.privacy.curves import gdp_delta
from publicmoments.privacy.ledger.lines import SCHEMA_VERSION

CAP = ApproxDP(1.0, 1e-6)
HALF = 0.5e-6 / (1.0 + math.e)
"""A distance that takes half of the cap's delta."""


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


class TestExtraDelta:
    def test_an_epsilon_delta_cap_pays_for_discrete_noise(self, ledger):
        ledger.cap("wine", CAP)
        whole = ledger.remaining("wine")
        assert whole == CAP.mu
        ledger.charge("wine", GDP(1e-9), extra_tv=HALF)
        left = ledger.remaining("wine")
        assert left == pytest.approx(ApproxDP(1.0, 0.5e-6).mu, rel=1e-6)
        with pytest.raises(BudgetExceeded, match="charge at most GDP"):
            ledger.charge("wine", GDP(whole * (1 - 1e-9)))
        ledger.charge("wine", GDP(left * (1 - 1e-9)))
        # What was charged and its distances together keep the cap.
        spent, extra = ledger.spent("wine"), ledger.extra_tv("wine")
        assert gdp_delta(spent, 1.0) + (1 + math.e) * extra <= CAP.delta

    def test_a_charge_that_is_too_far_from_gaussian_is_refused(self, ledger):
        ledger.cap("wine", CAP)
        with pytest.raises(BudgetExceeded, match="nothing more fits"):
            ledger.charge("wine", GDP(1e-9), extra_tv=2.1 * HALF)
        with pytest.raises(BudgetExceeded):
            ledger.account("wine", GDP(1e-9), extra_tv=2.1 * HALF)
        assert ledger.entries("wine") == ()

    @pytest.mark.parametrize("cap", [GDP(1.0), ZCDP(0.5)])
    def test_other_caps_are_met_whole(self, ledger, cap):
        ledger.cap("wine", cap)
        ledger.charge("wine", GDP(1.0), extra_tv=HALF)
        assert ledger.remaining("wine") == 0.0
        assert ledger.extra_tv("wine") == HALF

    @pytest.mark.parametrize("n_rows", [50, 3_000, 200_000])
    @pytest.mark.parametrize("budget", [CAP, ApproxDP(8.0, 1e-9), ApproxDP(0.01, 1e-3)])
    def test_a_fit_with_the_budget_of_the_cap_fits_once(self, ledger, budget, n_rows):
        rng = np.random.default_rng(n_rows)
        X, B = rng.normal(size=(n_rows, 2)), rng.normal(size=(30, 2))
        public = PublicMoments.from_rows(B, response=B[:, 0])
        ledger.cap("wine", budget)
        model = Ridge(privacy=budget, public=public, ledger=ledger, dataset="wine")
        model.fit(X, X[:, 0])
        (entry,) = ledger.entries("wine")
        assert entry.extra_tv == model.card_.extra_tv > 0.0
        with pytest.raises(BudgetExceeded):
            model.fit(X, X[:, 0])

    def test_distances_add_up_exactly(self, ledger):
        for extra_tv in (0.1, 0.2, 0.3):
            ledger.charge("wine", GDP(1.0), extra_tv=extra_tv)
        assert 0.6 <= ledger.extra_tv("wine") <= math.nextafter(0.6, 1.0)

    @pytest.mark.parametrize("extra_tv", [-1.0, math.nan, math.inf])
    def test_distances_are_checked(self, ledger, extra_tv):
        with pytest.raises(ValueError, match="extra_tv must be in"):
            ledger.charge("wine", GDP(1.0), extra_tv=extra_tv)


class TestNames:
    def test_a_new_name_is_announced(self, ledger):
        with pytest.warns(UserWarning, match="did not know the dataset 'wine'"):
            ledger.charge("wine", GDP(1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ledger.charge("wine", GDP(1.0))

    def test_a_typing_error_does_not_escape_a_cap(self, ledger):
        ledger.cap("hospital-2026", GDP(1.0))
        with pytest.raises(ValueError, match="did you mean 'hospital-2026'"):
            ledger.account("hospital-2062", GDP(0.5))
        with pytest.raises(ValueError, match="did you mean 'hospital-2026'"):
            ledger.charge("hospital-2062", GDP(0.5))
        assert ledger.datasets() == ("hospital-2026",)

    def test_datasets_that_were_there_before_a_cap_go_on(self, ledger):
        ledger.charge("old", GDP(1.0))
        ledger.cap("wine", GDP(1.0))
        assert ledger.charge("old", GDP(1.0)).number == 2

    def test_a_dataset_can_be_begun_on_purpose(self, ledger, tmp_path):
        ledger.cap("wine", GDP(1.0))
        open_to_all = Ledger(tmp_path / "ledger.db", new_datasets=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_to_all.charge("power", GDP(9.0))
        assert ledger.spent("power") == 9.0

    def test_a_cap_set_while_a_fit_runs_holds_for_its_name(self, ledger):
        account = ledger.account("whine", GDP(1.0))
        ledger.cap("wine", GDP(1.0))
        with pytest.raises(ValueError, match="dataset must be one that the ledger knows"):
            account.charge(GDP(1.0))
        assert ledger.datasets() == ("wine",)


def test_a_charge_tells_what_it_is_for(tmp_path):
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(100, 2)), rng.normal(size=(30, 2))
    ledger = Ledger(tmp_path / "ledger.db", who="Ada", output="model.json")
    model = Ridge(privacy=GDP(1.0), public=PublicMoments.from_rows(B, response=B[:, 0]))
    cost = pd.Series(X[:, 0], name="cost")
    model.set_params(ledger=ledger, dataset="stays").fit(X, cost)
    (entry,) = ledger.entries("stays")
    assert entry.purpose.model == "Ridge"
    assert (entry.purpose.target, entry.purpose.who) == ("cost", "Ada")
    assert entry.purpose.output == "model.json"
    Ledger(tmp_path / "other.db").charge("wine", GDP(1.0))
    assert Ledger(tmp_path / "other.db").entries("wine")[0].purpose.who == getpass.getuser()


WORDS = ["no", "secret"]
LABELS = [WORDS[k % 2] for k in range(20)]
"""Short enough together to pass for a name."""


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        [[label] for label in LABELS],
        pd.Series(LABELS),
        pd.Series(LABELS).astype("category"),
        pl.Series(LABELS),
        pa.array(LABELS),
    ],
    ids=lambda labels: type(labels).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_are_not_taken_for_names(tmp_path, labels):
    """A list of words may be the labels themselves, which are private."""
    ledger = Ledger(tmp_path / "ledger.db", who="Ada")
    X = np.random.default_rng(1).normal(size=(20, 2))
    model = LogisticRegression(
        classes=WORDS, privacy=GDP(1.0), passes=2, ledger=ledger, dataset="stays"
    )
    model.fit(X, labels)
    (entry,) = ledger.entries("stays")
    assert entry.purpose.target == ""
    assert "secret" not in ledger.export() + ledger.export("csv")


def test_names_that_no_line_holds_are_left_out(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(100, 2)), rng.normal(size=(30, 2))
    shared = {"privacy": GDP(1.0), "ledger": ledger, "dataset": "stays"}
    public = PublicMoments.from_rows(B, response=B[:, 0])
    for name in ("a\nb", "x" * 5_000):
        Ridge(public=public, **shared).fit(X, pd.Series(X[:, 0], name=name))
    both = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 0], "d": X[:, 1]})
    known = PublicMoments.from_rows(B, response=B, columns=["a", "b"])
    Ridge(public=known, **shared).fit(both, ["c", "d"])
    assert [entry.purpose.target for entry in ledger.entries("stays")] == ["", "", "c, d"]


FIRST_VERSION = """
CREATE TABLE publicmoments_ledger (version INTEGER NOT NULL, created_at TEXT NOT NULL,
    PRIMARY KEY (version));
CREATE TABLE publicmoments_ledger_events (dataset TEXT NOT NULL, number INTEGER NOT NULL,
    event TEXT NOT NULL, closes INTEGER, at TEXT NOT NULL, mu TEXT, mu_squared TEXT, stated TEXT,
    private BOOLEAN, note TEXT NOT NULL, spent_squared TEXT NOT NULL, cap_squared TEXT,
    PRIMARY KEY (dataset, number), UNIQUE (dataset, closes));
INSERT INTO publicmoments_ledger VALUES (1, '2026-01-01');
INSERT INTO publicmoments_ledger_events VALUES
    ('wine', 1, 'cap', NULL, '2026-01-01', '0x1.0p+1', '4', 'GDP(mu=2.0)', NULL, '', '0', '4'),
    ('wine', 2, 'charged', NULL, '2026-01-01', '0x1.0p+0', '1', 'GDP(mu=1.0)', 1, 'Ridge', '1',
     '4'),
    ('wine', 3, 'released', 2, '2026-01-01', NULL, NULL, NULL, NULL, '', '1', '4'),
    ('power', 1, 'cap', NULL, '2026-01-01', '0x1.0p+1', '4', 'GDP(mu=2.0)', NULL, '', '0', '4');
CREATE TRIGGER publicmoments_ledger_no_UPDATE BEFORE UPDATE ON publicmoments_ledger_events
    BEGIN SELECT RAISE(ABORT, 'never changed'); END;
"""


class TestFirstVersion:
    @pytest.fixture
    def old(self, tmp_path) -> Ledger:
        with sqlite3.connect(tmp_path / "old.db") as connection:
            connection.executescript(FIRST_VERSION)
        return Ledger(tmp_path / "old.db")

    def test_its_lines_stand_and_others_follow(self, old, tmp_path):
        (entry,) = old.entries("wine")
        assert (entry.mu, entry.state, entry.note) == (1.0, "released", "Ridge")
        assert entry.extra_tv is None
        assert old.extra_tv("wine") is None
        old.charge("wine", GDP(1.0), extra_tv=HALF)
        assert (old.spent("wine"), old.extra_tv("wine")) == (pytest.approx(2**0.5), None)
        assert SCHEMA_VERSION == 2
        assert Ledger(tmp_path / "old.db").spent("wine") == old.spent("wine")
        assert old.export("csv").count("\n") == 6

    def test_unknown_distances_leave_no_room_under_epsilon_and_delta(self, old):
        old.cap("wine", ApproxDP(20.0, 1e-3))
        assert old.remaining("wine") == 0.0
        with pytest.raises(BudgetExceeded, match="set the cap again as GDP or ZCDP"):
            old.charge("wine", GDP(1e-3))
        old.cap("wine", ZCDP(4.0))
        old.charge("wine", GDP(1e-3))

    def test_a_dataset_without_charges_has_no_distance_yet(self, old):
        old.cap("power", CAP)
        old.charge("power", GDP(0.1), extra_tv=HALF)
        assert old.extra_tv("power") == HALF
