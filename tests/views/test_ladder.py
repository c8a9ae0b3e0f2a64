"""The view Ladder as a function on values: costs, bars, sentences and cards against trainings made here."""

from dataclasses import replace
from functools import cache
from itertools import islice
from statistics import fmean
from typing import Any

import pandas as pd
import pytest

from playground.accounting import count_flops, count_parameters
from playground.accounting.readable import in_units
from playground.charts.chart import Group, LabelledBars, Panel, Paragraph, Table, Widget
from playground.charts.scene import Scene
from playground.link.opening import open_link
from playground.training.ablation import Ablation
from playground.training.ladder import LARGE, RUNGS, START, USUAL, climb, ladder_recipe, ladder_trainings
from playground.training.network import Measure
from playground.training.tasks import make_data
from playground.views.ladder import (
    Ladder,
    answer_ladder,
    describe_step,
    draw_measured,
    linked_ladder,
    show_ladder,
    show_summary,
    show_trained,
    tabulate_trained,
    write_change,
)
from tests.views.scenes import parts_of, words

NAMES = ("GELU", "RMS norm", "rotary positions")


@cache
def trained(n_seeds: int = 3, n_done: int | None = None) -> Ladder:
    """A ladder of three rungs, after so many steps of all its trainings; at its end without a number."""
    recipe = replace(ladder_recipe("sort", 4), steps=3, n_train=64, n_validation=16, batch_size=16)
    ablation = Ablation(ladder_trainings(NAMES, recipe, make_data(recipe), n_seeds))
    for _ in islice(ablation.run(), n_done):
        pass
    return Ladder(ablation.state)


def with_losses(**losses: tuple[float, ...]) -> Ladder:
    """The same ladder, as if it had ended with these losses, by the last word of a rung's name."""
    ladder = trained()
    results = []
    for each in ladder.state.results:
        of_rung = losses[f"at_{each.training.name.split()[0]}"]
        results.append(replace(each, unbatched=Measure(of_rung[each.training.recipe.seed - 4], 0.25)))
    return Ladder(replace(ladder.state, results=tuple(results)))


def scene(ladder: Ladder) -> Scene[Ladder]:
    return Scene(ladder)


@pytest.mark.long
def test_costs_are_those_of_each_rungs_encoder() -> None:
    ladder = trained()
    for counted, start, n in (
        ("as trained here", ladder.first.config, ladder.first.recipe.length),
        ("as large as BERT base", LARGE, 512),
    ):
        items = parts_of(
            show_ladder(scene(ladder), {"ladder_counted": counted, "ladder_price": True, "ladder_cards": True})
        )
        short, table = (item for item in items if isinstance(item, Table))
        frame: Any = table.frame(ladder)
        configs = climb(start, NAMES)
        assert list(frame.index) == [START, *NAMES]
        assert list(frame["parameters"]) == [f"{count_parameters(config).total:,}" for config in configs]
        assert list(frame["FLOPs"]) == [in_units(count_flops(config, n).total, "").strip() for config in configs]
        assert frame.loc[START, "± parameters"] == frame.loc["GELU", "± parameters"] == "±0"
        assert frame.loc["RMS norm", "± parameters"].startswith("−")
        in_brackets: Any = short.frame(ladder)
        assert in_brackets.loc["GELU", "parameters"] == f"{frame.loc['GELU', 'parameters']} (±0)"
        assert f"one pass over {n} tokens" in words(items)


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [(100, 100, "±0"), (1_000, 1_125, "+12 %"), (1_000, 935, "−6.5 %"), (10_000_000, 10_000_768, "+0.0077 %")],
)
def test_a_change_is_a_share_however_small_it_is(before: int, after: int, written: str) -> None:
    assert write_change(before, after) == written


def test_a_bar_is_the_mean_of_its_seeds() -> None:
    ladder = trained()
    for measured, attribute in (("right answers", "accuracy"), ("loss", "loss")):
        (bars,) = (
            item for item in show_trained(scene(ladder), {"ladder_measure": measured}) if isinstance(item, LabelledBars)
        )
        drawn = bars.bars(ladder)
        assert drawn == draw_measured(ladder, measured)
        assert list(drawn.labels) == [START, *NAMES]
        for name, value in zip(drawn.labels, drawn.values, strict=True):
            of_rung = [each for each in ladder.state.results if each.training.name == name]
            assert len(of_rung) == 3
            assert value == pytest.approx(fmean(getattr(each.unbatched, attribute) for each in of_rung))
    assert all(text.count("–") == 1 for text in drawn.texts)


def test_while_it_trains_the_others_are_still_to_come() -> None:
    growing = trained(n_done=8)
    assert list(draw_measured(growing, "loss").texts).count("still to come") == 2
    assert growing.steps.keys() == {"GELU"}
    assert "up to *GELU*" in answer_ladder(growing)
    assert "comes once the ladder is trained" in describe_step(RUNGS["RMS norm"], growing)
    assert "Fewer than three seeds cannot tell it from chance" in describe_step(RUNGS["GELU"], growing)
    begun = trained(n_done=1)
    assert "is being trained" in answer_ladder(begun)
    assert "The first rung comes next" in answer_ladder(trained(n_done=4))


def test_the_table_has_each_rung_and_its_step() -> None:
    ladder = trained()
    table: Any = tabulate_trained(ladder)
    assert list(table.index) == [START, *NAMES]
    assert pd.isna(table.loc[START, "± nats"])
    for name, step in ladder.steps.items():
        assert table.loc[name, "± nats"] == pytest.approx(step.effect.loss_change)
    losses = table["loss, nats"]
    assert losses["RMS norm"] - losses["GELU"] == pytest.approx(table.loc["RMS norm", "± nats"])


def test_words_say_what_was_measured_and_whether_the_paper_is_right_here() -> None:
    ladder = with_losses(
        at_2017=(2.0, 2.1, 2.2), at_GELU=(2.0, 2.2, 2.1), at_RMS=(2.3, 2.5, 2.4), at_rotary=(1.3, 1.4, 1.4)
    )
    assert describe_step(RUNGS["GELU"], ladder).startswith("against the encoder of 2017, loss **+0.000 nats**, spread")
    assert "So much may be chance." in describe_step(RUNGS["GELU"], ladder)
    assert "By the loss, it does harm here" in describe_step(RUNGS["RMS norm"], ladder)
    assert "against *RMS norm*, loss **−1.033 nats**, spread 0.100" in describe_step(RUNGS["rotary positions"], ladder)
    assert "By the loss, it helps here." in describe_step(RUNGS["rotary positions"], ladder)
    answer = answer_ladder(ladder)
    assert "with all 3 changes, **25.0%**" in answer
    assert "The loss changes most with *rotary positions*: by −1.033 nats." in answer
    assert "1 of 3 rungs cannot be told apart from chance" in answer
    said = words(show_summary(scene(ladder)))
    assert "A lower loss than on the rung before: *rotary positions* (−1.033 nats, spread 0.100)." in said
    assert "A higher loss than on the rung before: *RMS norm* (+0.300 nats, spread 0.000)." in said
    assert "Not told apart from chance: *GELU* (+0.000 nats, spread 0.200)." in said


def test_the_answer_compares_rungs_over_the_seeds_that_both_have() -> None:
    whole = trained().state
    results = [
        replace(each, unbatched=Measure(1.0, [0.2, 0.9][each.training.recipe.seed > 4])) for each in whole.results[:5]
    ]
    growing = answer_ladder(Ladder(replace(whole, results=tuple(results))))
    assert "2017 answers **20.0%** right" in growing
    assert "up to *rotary positions*, **20.0%**" in growing or "with all 3 changes, **20.0%**" in growing
    assert "this is what 1 of 3 seeds say" in growing
    assert f"A simple rule gets about {whole.baseline:.0%}" in growing


def test_one_seed_and_no_rung_at_all_are_said() -> None:
    assert "One run each may be luck" in answer_ladder(trained(n_seeds=1))
    alone = trained()
    first = replace(alone.state, trainings=alone.state.trainings[:1], results=alone.state.results[:1])
    assert "There is no rung behind it" in answer_ladder(Ladder(first))
    assert not [each for each in show_summary(scene(Ladder(first))) if isinstance(each, Paragraph)]


def test_a_link_shows_every_rung_with_its_paper() -> None:
    view = open_link("http://host/ladder?ladder_rungs=ALiBi&ladder_rungs=GELU&ladder_seeds=1")
    ladder = linked_ladder(view).now
    assert ladder.names == ("ALiBi", "GELU")
    assert not ladder.steps
    panels = [
        item for item in show_ladder(scene(ladder), {**view.values, "ladder_cards": True}) if isinstance(item, Panel)
    ]
    cards = [item for item in panels[-1].items if isinstance(item, Group)]
    for number, (card, name) in enumerate(zip(cards, ("ALiBi", "GELU"), strict=True), start=1):
        parts = parts_of(card.items)
        said = words(parts)
        assert f"**{number} · {name}** · {RUNGS[name].year}" in said
        assert RUNGS[name].claim in said
        assert RUNGS[name].source in said
        assert [item.data["number"] for item in parts if isinstance(item, Widget)] == [number]
    assert open_link("http://host/ladder").values["ladder_rungs"] == USUAL
