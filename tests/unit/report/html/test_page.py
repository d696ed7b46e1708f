"""The HTML report: what it says, that it says no more, and that a browser can show it."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from publicmoments import (
    GDP,
    ZCDP,
    ApproxDP,
    LogisticRegression,
    PublicMoments,
    Ridge,
    combine,
    plan,
    release_moments,
)
from publicmoments.privacy import gdp_delta
from publicmoments.privacy.rounding import text_above
from publicmoments.report.content import (
    detection,
    figure,
    guaranteed_pairs,
    guessing,
    interpolated,
    percent_above,
)
from publicmoments.report.html import write_report
from publicmoments.report.html.markup import element, escaped
from publicmoments.report.parts import Axis, axis_over

EVIL = "<script>alert('1')</script>"
NAMES = ("age & sex", EVIL, '"> <img src=x>')
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements of a page in order, after a check that each one is closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"{tag} closes another element"

    def handle_data(self, data):
        self.text.append(data)

    def with_class(self, tag, style):
        return [attrs for name, attrs in self.elements if name == tag and style in _classes(attrs)]

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def _classes(attrs):
    return (attrs.get("class") or "").split()


def _bare(**attributes):
    """An object of a class with the name and parameters of Ridge, and nothing but these."""
    shell = type("Ridge", (), {"__init__": Ridge.__init__})
    bare = shell.__new__(shell)
    vars(bare).update(attributes)
    return bare


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(4_200, 3))
    return X, X @ [1.0, -2.0, 0.0] + rng.normal(size=4_200)


@pytest.fixture(scope="module")
def public(rows):
    X, y = rows
    return PublicMoments.from_rows(X[:200], response=y[:200], columns=NAMES)


@pytest.fixture(scope="module")
def private(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    return pandas.DataFrame(X[200:], columns=list(NAMES)), y[200:]


@pytest.fixture(scope="module")
def model(private, public):
    return Ridge(privacy=ApproxDP(1.0, 1e-6), public=public).fit(*private)


@pytest.fixture(scope="module")
def forecast(public):
    return plan(n_rows=4_000, privacy=[GDP(0.1), GDP(1.0)], public=public, rehearsals=2)


@pytest.fixture
def told(tmp_path):
    """Write a report and read it."""

    def write(model, **options):
        path = tmp_path / "report.html"
        write_report(model, path, **options)
        return Page(path.read_text(encoding="utf-8"))

    return write


class TestWords:
    def test_markup_is_escaped_once(self):
        assert escaped(escaped('<"&')) == "&lt;&quot;&amp;"
        assert element("p", EVIL, title='"') == (
            '<p title="&quot;">&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;</p>'
        )

    def test_characters_that_cannot_be_written_are_replaced(self):
        assert escaped("a\x00b\ud800\x1b") == "a\ufffdb\ufffd\ufffd"

    def test_shares_are_not_rounded_down(self):
        assert percent_above(0.50001) == "50.1 %"
        assert percent_above(0.5) == "50.0 %"

    def test_figures(self):
        shown = [figure(v) for v in (-0.00123456, 1e9, float("inf"), 999.96)]
        assert shown == ["-0.001235", "1e+09", "not finite", "1,000.0"]

    def test_an_attacker_does_no_better_than_the_best_test_of_two_normals(self, model):
        card = replace(model.card_, mu=1.3, extra_tv=0.0)
        threshold = norm.isf(0.05)
        assert detection(card) == pytest.approx(norm.sf(threshold, loc=1.3))
        # Guessing by the midpoint, right on either side.
        right = (norm.cdf(0.65) + norm.sf(0.65, loc=1.3)) / 2
        assert guessing(card) == pytest.approx(right)

    def test_the_extra_counts_for_the_attacker(self, model):
        card = replace(model.card_, mu=1.0, extra_tv=0.01)
        exact = replace(card, extra_tv=0.0)
        assert guessing(card) - guessing(exact) == pytest.approx(0.01)
        assert detection(card) - detection(exact) == pytest.approx(0.01)


class TestCharts:
    def test_places(self):
        assert Axis("", 1.0, 100.0, log=True).place(10.0) == pytest.approx(0.5)
        assert Axis("", 0.0, 4.0).place(1.0) == pytest.approx(0.25)

    @pytest.mark.parametrize("log", [True, False])
    @pytest.mark.parametrize("values", [[0.3, 0.4], [1e-12, 1e-2], [2.0, 2.0], [1.0, 5e6]])
    def test_ticks_are_few_and_inside(self, values, log):
        axis = axis_over("", values, log=log)
        ticks = axis.ticks()
        assert axis.low <= min(values)
        assert max(values) <= axis.high
        assert 1 <= len(ticks) <= 12
        assert all(-1e-9 <= axis.place(tick) <= 1 + 1e-9 for tick in ticks)


class TestRidge:
    def test_the_page_is_well_formed_and_refers_to_nothing(self, told, model, forecast):
        page = told(model, plan=forecast)
        assert not page.open
        assert {"script", "link", "img", "iframe"}.isdisjoint(tag for tag, _ in page.elements)
        for _, attrs in page.elements:
            assert {"src", "href", "srcset", "onload", "onerror"}.isdisjoint(attrs)
        assert "url(" not in page.words
        assert "@import" not in page.words
        policies = [a["content"] for _, a in page.elements if "http-equiv" in a]
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]

    def test_names_are_text(self, told, model):
        page = told(model)
        for name in NAMES:
            assert name in page.words

    def test_it_says_what_is_guaranteed(self, told, model):
        words = told(model).words
        assert "guess right at most 54.8 % of the time" in words
        assert f"mu = {text_above(model.card_.mu)}" in words
        assert model.card_.guarantee in words
        assert model.card_.neighbours in words
        assert "NO PRIVACY GUARANTEE" not in words

    def test_the_points_of_the_card_lie_on_the_curve(self, model):
        deltas, epsilons = np.array(guaranteed_pairs(model.card_)[::-1]).T
        for epsilon, delta in model.card_.epsilon_delta:
            between = np.interp(math.log(delta), np.log(deltas), epsilons)
            assert between == pytest.approx(epsilon, rel=2e-3)

    def test_the_curve_counts_the_extra_delta(self, model):
        card = replace(model.card_, mu=1.0, rho=0.5, extra_tv=1e-16)
        pairs = guaranteed_pairs(card)
        for delta, epsilon in pairs:
            extra = (1.0 + math.exp(epsilon)) * card.extra_tv
            assert delta == pytest.approx(gdp_delta(1.0, epsilon) + extra, rel=1e-9, abs=0.0)
        assert extra > 0.1 * delta
        steps = np.diff([epsilon for _, epsilon in pairs])
        assert (steps > 0).all()
        assert steps.max() < 0.5, "the curve jumps"

    def test_where_the_extra_swamps_the_curve_zcdp_speaks(self, rows, public):
        X, y = rows
        card = Ridge(privacy=GDP(30.0), public=public).fit(X[200:], y[200:]).card_
        assert card.extra_tv * math.exp(card.epsilon_delta[0][0]) > 1e-6
        for delta, epsilon in guaranteed_pairs(card):
            assert epsilon == pytest.approx(ZCDP(card.rho).to_approx_dp(delta).epsilon)
        for epsilon, delta in card.epsilon_delta:
            assert ZCDP(card.rho).to_approx_dp(delta).epsilon == pytest.approx(epsilon)

    def test_bars_are_as_wide_as_each_error_alone(self, told, model):
        page, summary = told(model), model.summary()
        noise = [float(bar["width"]) for bar in page.with_class("rect", "noise")]
        sampling = [float(bar["width"]) for bar in page.with_class("rect", "sampling")]
        both = [
            float(line["x2"]) - float(line["x1"])
            for line in page.with_class("line", "interval")
            if line["x1"] != line["x2"]
        ]
        assert len(noise) == len(sampling) == len(both) == 4
        shares = np.array(summary.noise_err) / summary.std_err
        np.testing.assert_allclose(np.divide(noise, both), shares, atol=1e-3)
        rest = np.array(summary.sampling_err) / summary.std_err
        np.testing.assert_allclose(np.divide(sampling, both), rest, atol=1e-3)
        np.testing.assert_allclose(both, 300 * norm.ppf(0.975) / 3.0, rtol=1e-3)

    def test_zero_is_marked_only_where_it_is_near(self, told, model):
        z = np.array(model.summary().z)
        marks = [float(line["x1"]) for line in told(model).with_class("line", "zero")]
        np.testing.assert_allclose(marks, 150 - 50 * z[np.abs(z) < 3], atol=0.01)
        assert len(marks) < len(z)

    def test_numbers_of_the_table_are_those_of_the_summary(self, told, model):
        words, summary = told(model).words, model.summary()
        for values in (summary.coef, summary.low, summary.high, summary.noise_err):
            assert all(figure(value) in words for value in values)

    def test_the_budget_of_each_release(self, told, model):
        words = told(model).words
        for line in model.card_.passes:
            assert line.statistic in words
            assert text_above(line.mu) in words
        shares = [line.mu**2 / model.card_.mu**2 for line in model.card_.passes]
        assert len(shares) > 3
        assert all(f"{share:.1%}".replace("%", " %") in words for share in shares)

    def test_how_to_make_it_again(self, told, model):
        text = "".join(told(model).text)
        call = f"Ridge(\n    privacy={model.privacy!r},\n    public={model.public!r},\n).fit(X, y)"
        assert call in text
        assert model.card_.public_fingerprint in text
        document = text[text.index('{\n  "guarantee"') : text.rindex("}") + 1]
        assert json.loads(document) == model.card_.to_dict()

    def test_addresses_of_ledgers_stay_at_home_and_lost_moments_are_named(self, told, model):
        given = {"ledger": "postgresql://me:secret@host/db", "public": None, "alpha": 0.5}
        bare = _bare(card_=model.card_, coef_=model.coef_, get_params=lambda deep: given)
        text = "".join(told(bare).text)
        assert "Ridge(\n    ledger=...,\n    alpha=0.5,\n    public=public,\n).fit(X, y)" in text
        assert "secret" not in text

    def test_it_reads_released_numbers_only(self, told, model):
        names = ("card_", "coef_", "noise_covariance_", "summary", "get_params")
        bare = _bare(**{name: getattr(model, name) for name in names})
        assert told(bare).text == told(model).text

    def test_misfits_are_named(self, told, model):
        bare = SimpleNamespace(
            card_=replace(model.card_, public_fit_z=7.25),
            coef_=model.coef_,
            get_params=lambda deep: {},
        )
        words = told(bare).words
        assert "second moments7.2does not fit" in words
        assert "no sign of a misfit" in told(model).words


class TestOthers:
    def test_a_seeded_run_is_loud(self, told, private, public):
        model = Ridge(privacy=GDP(1.0), public=public, random_state=1).fit(*private)
        page = told(model)
        assert page.words.count("NO PRIVACY GUARANTEE") == 2
        assert len([a for _, a in page.elements if a.get("role") == "alert"]) == 2
        assert "guess right" not in page.words
        assert "would have cost" in page.words
        assert not page.with_class("polyline", "curve")

    def test_selected_columns_have_no_intervals(self, told, rows):
        X, y = rows
        public = PublicMoments.from_rows(X[:200])
        labels = np.where(y > 0, "<b>", "no")
        model = LogisticRegression(
            classes=("no", "<b>"), alpha=0.01, l1_ratio=1.0, privacy=GDP(1.0), public=public
        ).fit(X[200:], labels[200:])
        page = told(model)
        assert "gives no intervals" in page.words
        assert not page.with_class("rect", "noise")
        for value in np.ravel(model.coef_):
            assert figure(float(value)) in page.words

    def test_a_release_of_moments(self, told, rows):
        table = np.column_stack(rows)
        moments = PublicMoments.from_rows(table[:200], columns=["a", "b", "c", "y"])
        release = release_moments(table[200:], privacy=GDP(1.0), public=moments)
        words = told(release).words
        assert "MomentRelease: privacy report" in words
        assert all(figure(float(value)) in words for value in release.mean)
        correlation = release.covariance[1, 3] / math.sqrt(
            release.covariance[1, 1] * release.covariance[3, 3]
        )
        assert f"{correlation:.2f}" in words
        assert f"privacy=GDP({release.card.passes[0].mu!r})" in words

    def test_a_combination_lists_its_sites(self, told, rows):
        table = np.column_stack(rows)
        moments = PublicMoments.from_rows(table[:200])
        sites = [
            release_moments(part, privacy=GDP(mu), public=moments, radius=6.0)
            for part, mu in zip(np.split(table[200:], 2), (0.5, 1.0), strict=True)
        ]
        words = told(combine(sites)).words
        assert words.count("release_moments(rows") == 2
        assert "A person with rows at several sites" in words

    def test_what_is_no_fit_is_refused(self, tmp_path):
        path = tmp_path / "report.html"
        with pytest.raises(TypeError, match=r"got Ridge without a privacy card; call fit first"):
            write_report(Ridge(privacy=GDP(1.0)), path)
        assert not path.exists()

    def test_what_is_no_plan_is_refused(self, tmp_path, model):
        with pytest.raises(TypeError, match=r"plan must be made by publicmoments.plan, got dict"):
            write_report(model, tmp_path / "report.html", plan={})


class TestPlan:
    def test_the_chosen_budget_is_marked(self, told, model, forecast):
        page = told(model, plan=forecast)
        chosen = page.with_class("polyline", "chosen")
        assert len(chosen) == 1
        marked = page.with_class("circle", "mark")[-1]
        assert chosen[0]["points"].startswith(f"{marked['cx']},")
        assert forecast.recommendation in page.words
        assert len(page.with_class("circle", "small")) == 2

    def test_the_range_of_fits_is_around_the_curve(self, told, model, forecast):
        page = told(model, plan=forecast)
        (line,) = page.with_class("polyline", "band")
        band = [float(point.split(",")[1]) for point in line["points"].split()]
        points = page.with_class("circle", "small")
        # From the lower end at the smallest budget to the upper one; SVG counts from the top.
        for k, point in enumerate(points):
            assert band[k] > float(point["cy"]) > band[-1 - k]
        assert "four of five fits" in page.words

    def test_errors_between_budgets_are_interpolated_on_logarithms(self):
        curve = [(0.1, 4.0), (10.0, 1.0)]
        assert interpolated(curve, 1.0) == pytest.approx(2.0)
        assert interpolated(curve, 0.1) == pytest.approx(4.0)
        assert interpolated(curve, 11.0) is None

    def test_another_number_of_rows_is_admitted(self, told, model, forecast):
        assert "does not quite apply" not in told(model, plan=forecast).words
        other = replace(forecast, n_rows=5_000)
        assert "does not quite apply" in told(model, plan=other).words


class TestFile:
    def test_it_appears_whole_or_not_at_all(self, tmp_path, model, monkeypatch):
        path = tmp_path / "report.html"
        path.write_text("before")

        def fail(*_):
            raise OSError("disk full")

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", fail)
            with pytest.raises(OSError, match="disk full"):
                write_report(model, path)
        assert path.read_text() == "before"
        assert os.listdir(tmp_path) == ["report.html"]
        write_report(model, path)
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

PROBE = """<!doctype html><body>
<iframe id="page" src="report.html" width="360" height="700"></iframe>
<script>
addEventListener("load", () => {
  const inner = document.getElementById("page"), page = inner.contentDocument;
  const told = {
    title: page.title,
    sections: page.querySelectorAll("section").length,
    width: page.documentElement.scrollWidth,
    fetched: inner.contentWindow.performance.getEntriesByType("resource").map(e => e.name),
    versions: (e => e.scrollWidth - e.clientWidth)([...page.querySelectorAll(".scroll")].at(-1)),
    bars: Array.from(page.querySelectorAll("rect.noise"), e => e.getBoundingClientRect().width),
    ink: getComputedStyle(page.body).color,
    paper: getComputedStyle(page.body).backgroundColor,
  };
  document.body.textContent = "told:" + JSON.stringify(told) + ":told";
});
</script></body>"""


@pytest.fixture(scope="module")
def browser():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser on PATH; install one of {', '.join(BROWSERS)}")
    return found


def _seen(browser, folder, *, dark):
    """Load the report on a page of a phone's width; return what is there and the console."""
    (folder / "probe.html").write_text(PROBE)
    flags = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--allow-file-access-from-files", "--enable-logging=stderr", "--dump-dom"]
    flags += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000"]
    flags += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses its sandbox to the superuser.
    done = subprocess.run(
        [browser, *flags, (folder / "probe.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r"told:(\{.*\}):told", done.stdout, flags=re.DOTALL)
    assert found, "the page did not load"
    told = json.loads(found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    return told, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


class TestBrowser:
    def test_it_renders_on_a_phone_in_light_and_dark(self, browser, tmp_path, model, forecast):
        write_report(model, tmp_path / "report.html", plan=forecast)
        light, console = _seen(browser, tmp_path, dark=False)
        assert console == []
        assert light["title"] == "Ridge: privacy report"
        assert light["sections"] == 7
        assert light["fetched"] == []
        assert light["width"] <= 360, "the page is wider than a phone"
        assert light["versions"] == 0, "the table of versions has to be scrolled"
        assert all(width > 1 for width in light["bars"])
        dark, console = _seen(browser, tmp_path, dark=True)
        assert console == []
        assert light["paper"] == "rgb(255, 255, 255)"
        assert dark["paper"] == "rgb(20, 24, 30)"
        assert dark["ink"] == "rgb(230, 234, 240)"
