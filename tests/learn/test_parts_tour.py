"""Take a part away: its steps, and that what it says are the family's numbers."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any, cast

from playground.language.capabilities import CAPABILITIES
from playground.language.family import change, seeds_of
from playground.language.network import Spec
from playground.learn.parts_tour import ASKED, GUESSES, PARTS
from playground.learn.tour import START, Evidence, SmallNumbers, TourState
from playground.link import english
from playground.views.capability_shares import GUESSING
from playground.views.parts import describe_lost

BEGIN = TourState(
    page="attention",
    values={**START, **english.default_settings({}), **english.values_of(Spec()), "weights": "english"},
)


def shown(**settings: Any) -> TourState:
    return replace(BEGIN, values={**BEGIN.values, **english.values_of(change(**settings))})


def evidence(state: TourState) -> Evidence:
    return cast(Evidence, type("Evidence", (), {"state": state}))


def test_it_starts_at_the_base_and_each_step_is_done_by_what_it_asks_for() -> None:
    guess, positions, layers = PARTS.steps
    assert PARTS.starts(evidence(BEGIN))["weights"] == "english"
    assert not any(step.is_done(BEGIN) for step in PARTS.steps)
    assert guess.is_done(replace(BEGIN, answers={"guess": ASKED}))
    assert positions.is_done(shown(positions="none"))
    assert not layers.is_done(shown(positions="none", n_layers=1))
    assert layers.is_done(shown(n_layers=1))
    for step in (positions, layers):
        assert step.sets is not None
        choices: Mapping[str, Any] = step.sets(evidence(BEGIN))
        assert step.is_done(replace(BEGIN, values={**BEGIN.values, **choices}))


def test_of_the_guesses_one_is_lost_without_positions_and_the_others_are_not() -> None:
    mean = {name: fmean(row.shares[name] for row in seeds_of(change(positions="none"))) for name in GUESSES}
    assert mean.pop(ASKED) <= GUESSING
    assert min(mean.values()) > GUESSING
    _, positions, _ = PARTS.steps
    assert positions.result is not None
    right = positions.result(evidence(replace(shown(positions="none"), answers={"guess": ASKED})))
    assert right.endswith("You were right.")
    assert "was wrong" in positions.result(evidence(replace(shown(positions="none"), answers={"guess": "negation"})))


def test_what_is_lost_is_named_with_its_share() -> None:
    rows = seeds_of(change(n_layers=1))
    for name, each in CAPABILITIES.items():
        mean, base = (fmean(row.shares[name] for row in of) for of in (rows, seeds_of(Spec())))
        assert (f"*{each.title}* {mean:.2f}" in describe_lost(change(n_layers=1))) == (mean <= GUESSING < base)
    assert describe_lost(Spec()) == "It still has every capability of the base."


def test_its_claim_is_tested_over_the_seeds_and_its_picture_is_the_bases_share() -> None:
    assert PARTS.conclude is not None
    assert PARTS.picture is not None
    found = PARTS.conclude(evidence(BEGIN))
    worst = min(row.shares[ASKED] for row in seeds_of(Spec()))
    best = max(row.shares[ASKED] for row in seeds_of(change(positions="none")))
    assert found.verdict == ("held" if worst > best else "refuted")
    assert f"{worst:.2f} and {best:.2f}" in found.test
    picture = PARTS.picture(evidence(BEGIN))
    assert isinstance(picture, SmallNumbers)
    assert picture.numbers["with positions"] == f"{fmean(row.shares[ASKED] for row in seeds_of(Spec())):.2f}"
