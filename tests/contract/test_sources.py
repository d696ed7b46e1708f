"""Private rows may live anywhere: every source gives the same integers, fits and refusals."""

import traceback
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from audit.listening import heard
from publicmoments import (
    GDP,
    GLM,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)
from publicmoments.data import as_responses, as_table, by_name
from publicmoments.engines.dispatch import exact_sum
from publicmoments.families import Gaussian
from publicmoments.rows.private_rows import InvalidRows
from publicmoments.rows.recipe import TotalRecipe
from tests.contract.sources import (
    EVERY_KIND,
    FEATURES,
    FRAME,
    N_ROWS,
    SOURCES,
    dask_arrays,
    exact_sums,
    private_rows,
    public_moments,
    with_gap,
)

pytestmark = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


class TestSums:
    """The exact sums are the same integers, entry by entry."""

    @pytest.mark.parametrize("name", SOURCES)
    def test_named_columns(self, make_source, recipes, expected, name):
        found = exact_sums(private_rows(make_source(name)(FRAME), "price"), recipes)
        for sums, wanted in zip(found, expected, strict=True):
            assert sums.dtype == np.int64
            np.testing.assert_array_equal(sums, wanted)

    @pytest.mark.parametrize("partitions", [1, 3, 7])
    @pytest.mark.parametrize("known_lengths", [True, False])
    def test_dask_arrays(self, recipes, expected, partitions, known_lengths):
        X, y = dask_arrays(FRAME, "price", partitions)
        if not known_lengths:
            y = y.rechunk({0: X.chunks[0]})
            X, y = X[X[:, 0] > -np.inf], y[y > -np.inf]
            assert np.isnan(X.shape[0])
        found = exact_sums(private_rows(X, y), recipes)
        for sums, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(sums, wanted)

    @pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
    def test_dask_schedulers(self, make_source, recipes, expected, scheduler):
        with dask.config.set(scheduler=scheduler, num_workers=2):
            found = exact_sums(private_rows(make_source("dask-7")(FRAME), "price"), recipes)
        np.testing.assert_array_equal(found[0], expected[0])

    def test_sums_of_sums(self, make_source, recipes, expected, monkeypatch):
        monkeypatch.setattr("publicmoments.data.dask.FAN_IN", 2)
        found = exact_sums(private_rows(make_source("dask-7")(FRAME), "price"), recipes)
        np.testing.assert_array_equal(found[0], expected[0])

    def test_partitions_without_rows(self, recipes, expected):
        frame = dd.concat([dd.from_pandas(FRAME, npartitions=2), dd.from_pandas(FRAME[:0])])
        found = exact_sums(private_rows(frame, "price"), recipes)
        np.testing.assert_array_equal(found[0], expected[0])

    @pytest.mark.parametrize("name", ["arrow", "parquet", "reader", "dask-3", "spark-4"])
    def test_several_responses(self, make_source, make_recipe, name):
        recipe = make_recipe(
            TotalRecipe, 4, 2, factor=lambda predictor, responses: responses, n_rows=N_ROWS
        )
        names = ["price", "years"]
        wanted = exact_sum(private_rows(FRAME, names), recipe)
        found = exact_sum(private_rows(make_source(name)(FRAME), names), recipe)
        np.testing.assert_array_equal(found, wanted)


class TestFits:
    """Seeded fits are equal to the last bit."""

    @pytest.mark.parametrize("name", SOURCES)
    def test_ridge(self, make_source, name):
        model = Ridge(privacy=GDP(1.0), public=public_moments("price"), random_state=3)
        wanted = model.fit(FRAME[FEATURES].astype(float), FRAME["price"])
        coef, intercept, card = wanted.coef_, wanted.intercept_, wanted.card_
        found = model.fit(make_source(name)(FRAME), "price")
        np.testing.assert_array_equal(found.coef_, coef)
        assert found.coef_.shape == (3,)
        assert found.intercept_ == intercept
        assert found.card_ == card
        assert list(found.feature_names_in_) == FEATURES

    @pytest.mark.parametrize("name", [name for name in EVERY_KIND if "spark" not in name])
    def test_models_of_every_kind(self, make_source, name):
        for model, y, more in (
            (LogisticRegression(classes=("no", "yes")), "sick", {}),
            (PoissonRegressor(typical_exposure=1.25), "claims", {"exposure": "years"}),
            (PoissonRegressor(typical_exposure=1.25), "claims", {}),
            (GLM(Gaussian(), typical_offset=0.5), "price", {"offset": "years"}),
        ):
            model.set_params(privacy=GDP(1.0), public=public_moments(), random_state=5, passes=2)
            arrays = {key: FRAME[column].to_numpy() for key, column in more.items()}
            wanted = model.fit(FRAME[FEATURES].to_numpy(float), FRAME[y].to_numpy(), **arrays)
            wanted = np.append(wanted.coef_, wanted.intercept_)
            found = model.fit(make_source(name)(FRAME), y, **more)
            np.testing.assert_array_equal(np.append(found.coef_, found.intercept_), wanted)

    def test_errors_of_spark_quote_nothing(self, spark, capfd):
        texts = FRAME[["age", "price"]].astype(str)
        texts.loc[5, "age"] = "Mr Secret, 41"
        casts = (f"cast({name} as double) {name}" for name in texts)
        frame = spark.createDataFrame(texts).selectExpr(*casts)
        with heard() as told, pytest.raises(ValueError, match="could not be read") as info:
            Ridge(privacy=GDP(1.0)).fit(frame, "price")
        said = "".join(traceback.format_exception(info.value, chain=True))
        assert "Secret" not in said
        assert "Secret" not in repr(told())
        assert "Secret" not in "".join(capfd.readouterr())

    def test_labels_in_spark(self, make_source):
        model = LogisticRegression(
            classes=("no", "yes"), privacy=GDP(1.0), public=public_moments(), random_state=5
        ).set_params(passes=2)
        wanted = model.fit(FRAME[FEATURES].to_numpy(float), FRAME["sick"].to_numpy()).coef_
        np.testing.assert_array_equal(
            model.fit(make_source("spark-4")(FRAME), "sick").coef_, wanted
        )

    @pytest.mark.parametrize("name", EVERY_KIND)
    def test_features_are_all_other_columns_without_public_names(self, make_source, name):
        source = make_source(name)(FRAME[["visits", "price", "age", "insured"]])
        model = Ridge(privacy=GDP(1.0), public=PublicMoments.identity(3), random_state=1)
        model.fit(source, "price")
        assert list(model.feature_names_in_) == ["visits", "age", "insured"]

    @pytest.mark.parametrize("name", [k for k in EVERY_KIND if k not in ("polars", "arrow")])
    def test_released_moments(self, make_source, name):
        release = partial(
            release_moments, privacy=GDP(1.0), public=public_moments(), random_state=2
        )
        wanted = release(FRAME[FEATURES].astype(float))
        found = release(make_source(name)(FRAME))
        np.testing.assert_array_equal(found.noisy_gram, wanted.noisy_gram)
        assert found.columns == tuple(FEATURES)

    def test_dask_arrays(self):
        X, y = dask_arrays(FRAME, "price", 3)
        model = Ridge(privacy=GDP(1.0), public=public_moments("price"), random_state=3)
        wanted = model.fit(FRAME[FEATURES].to_numpy(float), FRAME["price"].to_numpy()).coef_
        np.testing.assert_array_equal(model.fit(X, y).coef_, wanted)
        X, labels = dask_arrays(FRAME, "sick", 3)
        model = LogisticRegression(classes=("no", "yes"), privacy=GDP(1.0), random_state=3)
        model.set_params(public=public_moments(), passes=2)
        wanted = model.fit(FRAME[FEATURES].to_numpy(float), FRAME["sick"].to_numpy()).coef_
        np.testing.assert_array_equal(model.fit(X, labels).coef_, wanted)


class TestRefusals:
    """Bad input is refused in the same words, before anything is spent."""

    def refused(self, charges, error, fit):
        """Return what an error says, and check that nothing was paid for it."""
        with pytest.raises(error) as caught:
            fit()
        assert type(caught.value) is error
        assert charges == []
        assert caught.value.__cause__ is None
        return str(caught.value)

    def fitted(self, source, y="price", **settings):
        model = Ridge(privacy=GDP(1.0), public=public_moments(), random_state=0, **settings)
        return model.fit(source, y)

    @pytest.mark.parametrize("name", ["pandas", *EVERY_KIND])
    def test_names_that_do_not_exist(self, make_source, charges, name):
        source = make_source(name)(FRAME)
        message = self.refused(charges, ValueError, lambda: self.fitted(source, "prise"))
        assert message.startswith("y must be a column of X, got y='prise'; its columns are visits")
        message = self.refused(charges, ValueError, lambda: self.fitted(source, ["price", "q"]))
        assert message.startswith("y must be a column of X, got y='q'")
        source = make_source(name)(FRAME.drop(columns="age"))
        message = self.refused(charges, ValueError, lambda: self.fitted(source))
        assert message.startswith("X must have the columns age, visits, insured; missing: age;")
        message = self.refused(charges, ValueError, lambda: self.fitted(source, "visits"))
        assert "missing: age" in message

    @pytest.mark.parametrize("name", [kind for kind in ("pandas", *EVERY_KIND) if kind != "csv"])
    def test_text_is_no_feature_and_no_response(self, make_source, charges, name):
        source = make_source(name)(FRAME[["age", "city", "price", "sick"]])
        model = Ridge(privacy=GDP(1.0), public=PublicMoments.identity(3))
        message = self.refused(charges, TypeError, lambda: model.fit(source, "price"))
        assert message.startswith("X must hold numbers, got columns city (")
        assert "Ulm" not in message
        source = make_source(name)(FRAME)
        message = self.refused(charges, TypeError, lambda: self.fitted(source, "sick"))
        assert message.startswith("y must hold numbers, got columns sick (")

    def test_text_in_files_without_types(self, make_source, charges):
        source = make_source("csv")(FRAME[["age", "city", "price", "sick"]])
        model = Ridge(privacy=GDP(1.0), public=PublicMoments.identity(3))
        message = self.refused(charges, InvalidRows, lambda: model.fit(source, "price"))
        assert "X (column city, sick); drop or fill" in message
        assert "Ulm" not in message

    @pytest.mark.parametrize("name", ["pandas", *EVERY_KIND])
    def test_missing_numbers(self, make_source, charges, name):
        source = make_source(name)(with_gap(FRAME))
        message = self.refused(charges, InvalidRows, lambda: self.fitted(source))
        assert message.startswith("Input contains NaN or infinity: X (column age);")

    @pytest.mark.parametrize("name", EVERY_KIND)
    def test_missing_numbers_are_ignored_where_the_user_says_so(self, make_source, name):
        frame = with_gap(FRAME)
        model = Ridge(privacy=GDP(1.0), public=public_moments("price"), random_state=0)
        model.set_params(on_invalid="ignore")
        wanted = model.fit(frame[FEATURES].to_numpy(float), frame["price"].to_numpy()).coef_
        np.testing.assert_array_equal(model.fit(make_source(name)(frame), "price").coef_, wanted)

    @pytest.mark.parametrize("name", ["pandas", *EVERY_KIND])
    def test_labels_that_are_not_among_the_classes(self, make_source, charges, name):
        source = make_source(name)(FRAME)
        model = LogisticRegression(classes=("well", "yes"), privacy=GDP(1.0), random_state=0)
        model.set_params(public=public_moments())
        message = self.refused(charges, ValueError, lambda: model.fit(source, "sick"))
        assert message.startswith("y holds labels that are not among classes=('well', 'yes')")

    @pytest.mark.parametrize("name", ["pandas", *EVERY_KIND])
    def test_responses_out_of_range(self, make_source, charges, name):
        make = partial(make_source(name), FRAME)
        model = PoissonRegressor(privacy=GDP(1.0), random_state=0, public=public_moments())
        message = self.refused(charges, ValueError, lambda: model.fit(make(), "price"))
        assert message.startswith("y must hold")
        fit = partial(model.fit, make(), "claims", exposure="region")
        message = self.refused(charges, ValueError, fit)
        assert message.startswith("exposure must hold positive numbers only")

    @pytest.mark.parametrize("name", ["pandas", *EVERY_KIND])
    def test_tables_without_rows(self, make_source, charges, name):
        if name == "csv":
            pytest.skip("the types of a CSV file come from its rows")
        source = make_source(name)(FRAME[:0].astype({"city": "str", "sick": "str"}))
        message = self.refused(charges, ValueError, lambda: self.fitted(source))
        assert message.startswith("Found array with 0 sample(s) (shape=(0, 3))")

    @pytest.mark.parametrize("name", [k for k in EVERY_KIND if k != "polars"])
    def test_data_beside_a_source(self, make_source, charges, name):
        source = make_source(name)(FRAME)
        model = PoissonRegressor(privacy=GDP(1.0), public=public_moments(), random_state=0)
        fit = partial(model.fit, source, "claims", exposure=np.ones(N_ROWS))
        message = self.refused(charges, TypeError, fit)
        assert message.startswith("exposure must be the name of a column of X")

    def test_names_where_there_are_none(self, charges):
        X = FRAME[FEATURES].to_numpy(float)
        message = self.refused(charges, TypeError, lambda: self.fitted(X, "price"))
        assert message.startswith("y='price' names a column, but X is a ndarray")

    def test_a_response_among_the_features(self, charges):
        message = self.refused(charges, ValueError, lambda: self.fitted(FRAME, "age"))
        assert "count age among the features" in message

    def test_dask_arrays(self, charges):
        X, y = dask_arrays(FRAME, "price", 3)
        message = self.refused(charges, ValueError, lambda: self.fitted(X, y[:-1]))
        assert "X has 2000 rows and y has 1999" in message
        message = self.refused(charges, TypeError, lambda: self.fitted(X, y.compute()))
        assert message.startswith("y must be a Dask array like X")
        broken = da.where(X.max() == X, np.nan, X)
        message = self.refused(charges, InvalidRows, lambda: self.fitted(broken, y))
        assert message.startswith("Input contains NaN or infinity: X (column 0);")

    def test_rows_that_come_or_go_between_passes(self, tmp_path, charges):
        path = tmp_path / "rows.parquet"
        FRAME.to_parquet(path)
        X, y = by_name(path, FEATURES, y="price")
        features, responses = as_table(X), as_responses(y)
        FRAME[:-1].to_parquet(path)
        model = Ridge(privacy=GDP(1.0), public=public_moments())
        rows = model._private_rows(features, responses, True)
        assert rows.n_rows == N_ROWS
        recipe = TotalRecipe(
            np.eye(4), np.zeros((4, 1)), lambda t, y: np.ones_like(t), 4.0, 8.0, N_ROWS
        )
        message = self.refused(charges, ValueError, lambda: exact_sum(rows, recipe))
        assert message.startswith("the table must have the same 2000 rows whenever it is read")


@pytest.mark.parametrize("wrap", [lambda frame: frame, dd.from_pandas])
def test_names_that_are_no_strings(wrap):
    frame = pd.DataFrame(np.ones((5, 2)))
    with pytest.raises(ValueError, match="names that are strings"):
        by_name(wrap(frame), None, y="price")
