"""The view Attention as a function on values: its charts, answers and tables against torch's own numbers."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.analysis.attention import rollout
from playground.analysis.counterfactuals import CLOSE, Claim, find_claim
from playground.charts import palette
from playground.charts.chart import Bars, HeadGrid, Heatmap, Item, LabelledBars, Paragraph, Table, Widget
from playground.charts.draw import draw_chart
from playground.charts.names import subscript
from playground.charts.scene import Scene
from playground.link.changes import read_changes
from playground.link.opening import Focus
from playground.text import characters
from playground.views.attention.answer import say_who_attends
from playground.views.attention.counterfactuals import describe_swap
from playground.views.attention.explanation import HeadsRun, explain_cell
from playground.views.attention.page import VIEWS, show_attention
from playground.views.attention.why_steps import STEPS, running_sum
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of, words

TEXT = "abcab"
FOCUS = Focus(1, 2, 3, 1)
OPTIONS: dict[str, Any] = {
    "attention_show": "one head", "attention_colours": "square root", "attention_hide": False,
    "attention_stretch": False, "attention_other": 0, "attention_view": "lines", "attention_why": "sources",
    "attention_habits": "this text", "attention_rival": "automatic", "attention_word": "",
    "attention_steps": True, "attention_closer": True,
}  # fmt: skip


def subject(text: str = TEXT, seed: int = 0, *, causal: bool = False, **changes: Any) -> tuple[HeadsRun, Trace]:
    """A small run with what explains its heads, and the trace that the model itself computes."""
    encoder, batch, trace = Encoder(ModelConfig(**SMALL | changes), seed), characters().encode_batch([text]), Trace()
    mask = torch.ones(1, len(text), len(text)).tril().bool() if causal else batch.mask
    with torch.inference_mode():
        encoder(batch.ids, mask, trace)
    lab = lab_of(encoder, [text], causal=causal)
    explained = HeadsRun(lab, lab.run)
    return explained, trace


def show(scene: Scene[HeadsRun], **options: object) -> list[Item]:
    return parts_of(show_attention(scene, OPTIONS | options))


def chart(items: list[Item], key: str) -> Any:
    return next(each for each in items if getattr(each, "key", "") == key)


def test_the_map_is_one_head_the_average_or_the_difference_of_two() -> None:
    now, trace = subject()
    before, pinned_trace = subject(seed=5, n_layers=1)
    patterns, pinned = trace["layers.1.attn.pattern"][0].numpy(), pinned_trace["layers.0.attn.pattern"][0].numpy()
    scene = Scene(now, FOCUS, before, "pinned", "now")
    shown: dict[str, Callable[[Any], Any]] = {
        "one head": lambda heads: heads[2],
        "average of heads": lambda heads: heads.mean(axis=0),
        "difference of two heads": lambda heads: heads[2] - heads[0],
    }
    for how, of in shown.items():
        heatmap = chart(show(scene, attention_show=how), "attention_pattern")
        assert isinstance(heatmap, Heatmap)
        np.testing.assert_allclose(heatmap.values(now), of(patterns), atol=1e-6)
        drawing = draw_chart(heatmap, scene)
        assert [each.key for each in drawing.beside] == ["head_pinned", "head_difference"]
        np.testing.assert_allclose(drawing.beside[1].figure["data"][0]["z"], of(patterns) - of(pinned), atol=1e-6)
        assert "it has no layer 1" in drawing.beside[0].caption


def weights_of(told: str) -> list[float]:
    """The numbers in bold."""
    return [float(number) for number in re.findall(r"\*\*([\d.]+)\*\*", told)]


@pytest.mark.parametrize("show", ["one head", "average of heads"])
@pytest.mark.parametrize("key", range(5))
def test_the_title_is_answered_with_the_keys_weight_and_the_strongest_others(key: int, show: str) -> None:
    now, trace = subject()
    heads = trace["layers.1.attn.pattern"][0, :, 3].double().numpy()
    row = heads[2] if show == "one head" else heads.mean(axis=0)
    told = say_who_attends(now, Focus(1, 2, 3, key), OPTIONS | {"attention_show": show})
    first, other = sorted((row[key], max(np.delete(row, key))), reverse=True)
    assert weights_of(told) == [round(first, 2), round(other, 2)]
    strongest = int(row.argmax())
    named = "itself" if strongest == 3 else f"`{TEXT[strongest]}`{subscript(strongest)}"
    assert f"attends most to {named}: **{first:.2f}**" in told
    assert ("Next comes" in told) == (strongest == key)
    assert "random" not in told
    random = replace(now, lab=lab_of(now.lab.encoder, [TEXT], weights="random"))
    assert "this is chance" in say_who_attends(random, FOCUS, OPTIONS)


def test_the_title_is_answered_for_two_heads_and_where_little_can_be_said() -> None:
    now, trace = subject(causal=True)
    heads = trace["layers.1.attn.pattern"][0, :, 3, 1].numpy()
    options = OPTIONS | {"attention_show": "difference of two heads"}
    assert weights_of(say_who_attends(now, FOCUS, options)) == [round(float(heads[2]), 2), round(float(heads[0]), 2)]
    assert "compared with itself" in say_who_attends(now, FOCUS, options | {"attention_other": 2})
    assert weights_of(say_who_attends(now, Focus(1, 2, 1, 3), options)) == [0]
    hidden = say_who_attends(now, Focus(1, 2, 1, 3), OPTIONS)
    assert "comes later" in hidden
    assert weights_of(hidden) == [round(float(trace["layers.1.attn.pattern"][0, 2, 1].max()), 2)]
    alone = say_who_attends(now, Focus(1, 2, 0, 0), OPTIONS)
    assert "only one token to look at, itself" in alone
    assert weights_of(alone) == [1]


@pytest.mark.parametrize(
    "text", ["1.2:zero", "1.attn:off", "0.2:zero", "1.2:cut_3_1", "1.q:patch_3_1", "1.v:patch_3_1"]
)
def test_a_change_that_leaves_the_weights_as_they_were_is_said_to(text: str) -> None:
    now, _ = subject()
    changed = replace(now.run, interventions=tuple(each.change for each in read_changes(text)[0].made))
    told = say_who_attends(replace(now, run=changed), FOCUS, OPTIONS)
    assert told.startswith("Unchanged by") == (text in ("1.2:zero", "1.attn:off", "1.v:patch_3_1"))


def with_row(now: HeadsRun, row: list[float], **run: Any) -> HeadsRun:
    """The run with other weights of the focus's query in its head."""
    pattern = now.run.pattern(1).copy()
    pattern[2, 3] = row
    return replace(now, run=replace(now.run, arrays={**now.run.arrays, "layers.1.attn.pattern": pattern}, **run))


def test_the_head_that_is_subtracted_is_the_last_where_the_link_asks_for_one_that_there_is_not() -> None:
    now, trace = subject()
    heatmap = chart(
        show(Scene(now, FOCUS), attention_show="difference of two heads", attention_other=9), "attention_pattern"
    )
    patterns = trace["layers.1.attn.pattern"][0].numpy()
    np.testing.assert_allclose(heatmap.values(now), patterns[2] - patterns[3], atol=1e-6)
    assert "head 9" not in heatmap.caption
    assert heatmap.caption.count("head 3") == 2


def test_a_pinned_run_of_fewer_layers_has_the_grey_cells_of_the_layer_that_is_shown() -> None:
    (now, _), (before, _) = subject(), subject(seed=5, n_layers=1, window=2, global_every=2)
    scene = Scene(now, FOCUS, before, "pinned")  # its layer 0 has no window, and layer 1 would have one
    heatmap = chart(show(scene), "attention_pattern")
    assert heatmap.shown(before).all()
    assert heatmap.reading(before) == ""
    focus = Focus(1, 2, 2, 0)
    (narrow, _) = subject(window=2, global_every=2)
    scene = Scene(narrow, focus, before, "pinned")
    ranking = chart(show(scene, attention_view="ranking"), "attention_ranking")
    assert len(ranking.bars(before)[""]) == 5, "of every key that either of the two may attend to"


def test_the_answer_names_what_nobody_typed_and_equal_weights_and_none() -> None:
    now, _ = subject()
    special = np.array([True, False, False, False, True])
    told = say_who_attends(with_row(now, [0.7, 0.2, 0.1, 0.0, 0.0], special=special), FOCUS, OPTIONS)
    assert "`a`₀ (added by the tokenizer): **0.70**" in told
    assert weights_of(told) == [0.7, 0.2]
    assert "as much as to `a`₀: **0.40** each" in say_who_attends(with_row(now, [0.4, 0.4, 0.2, 0, 0]), FOCUS, OPTIONS)
    assert "attends to nothing" in say_who_attends(with_row(now, [0.0] * 5), FOCUS, OPTIONS)
    assert "range of 32-bit floats" in say_who_attends(with_row(now, [np.nan] * 5), FOCUS, OPTIONS)
    small = say_who_attends(with_row(now, [0.99, 0.0012, 0.0088, 0, 0]), FOCUS, OPTIONS)
    assert weights_of(small) == [0.99, 0.0012]


def test_the_answer_stands_first_and_what_is_folded_makes_nothing() -> None:
    now, _ = subject()
    first, *others = show_attention(Scene(now, FOCUS), OPTIONS | {"attention_closer": False, "attention_steps": False})
    assert isinstance(first, Paragraph)
    assert first.kind == "answer"
    keys = [getattr(each, "key", getattr(each, "name", "")) for each in parts_of(others)]
    order = ["linking_heads", "attention_pattern", "attention_show", "why_parts", "quick_changes", "attention_grid"]
    assert [key for key in keys if key in order] == order
    assert {"attention_why", "attention_view"} < set(keys), "a widget that is not drawn would forget what was chosen"
    assert not {"why_key_sources", "attention_lines"} & set(keys)


def test_the_answer_and_every_step_split_the_same_lead() -> None:
    now, trace = subject()
    scores = trace["layers.1.attn.scores"][0, 2, 3].double().numpy()
    lead = scores[1] - max(np.delete(scores, [1, 3]))
    items = show(Scene(now, FOCUS))
    for key in ("why_parts", "why_key_sources", "why_query_sources"):
        assert sum(chart(items, key).bars(now).values) == pytest.approx(lead, abs=1e-4)
    weight = float(trace["layers.1.attn.pattern"][0, 2, 3, 1])
    assert f"with weight **{weight:.2f}**" in words(items)
    found = explain_cell(now, FOCUS)
    products = chart(parts_of(STEPS["products"](found)), "why_products")
    assert products.figure(now)["data"][1]["y"][-1] == pytest.approx(scores[1], abs=1e-5)
    moved = chart(show(Scene(now, FOCUS), attention_why="what it moves"), "why_moved")
    assert sum(moved.bars(now).values) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("rival", ["automatic", "mean", "0", "2", "4"])
def test_the_bars_are_the_difference_to_the_chosen_rival(rival: str) -> None:
    """The scores are the model's own, in another pass; the mean is over the keys that the query may attend to."""
    now, trace = subject(causal=True)
    scores = trace["layers.1.attn.scores"][0, 2, 3].double().numpy()[:4]
    strongest = max(scores[[0, 2]])
    # Position 4 comes later than the query, so the strongest other key takes its place, and that is said.
    others = {"automatic": strongest, "mean": scores.mean(), "0": scores[0], "2": scores[2], "4": strongest}
    other = others[rival]
    items = show(Scene(now, FOCUS), attention_rival=rival)
    for key in ("why_parts", "why_key_sources", "why_query_sources"):
        assert sum(chart(items, key).bars(now).values) == pytest.approx(scores[1] - other, abs=1e-4)
    assert ("is hidden from the query" in words(items)) == (rival == "4")
    assert ("the mean over its keys" in words(items)) == (rival == "mean")
    competition = chart(show(Scene(now, FOCUS), attention_why="competition", attention_rival=rival), "why_competition")
    order = np.argsort(-scores)
    assert [competition.on_row(row)["attention_rival"] for row in range(4)] == [str(place) for place in order]


@pytest.mark.parametrize("key", range(5))
def test_what_spoke_against_the_key_that_lost_adds_up_to_the_gap(key: int) -> None:
    now, trace = subject()
    scores = trace["layers.1.attn.scores"][0, 2, 3].double().numpy()
    gap = abs(scores[key] - max(np.delete(scores, [3, key])))  # no rival is the query itself, at 3
    items = parts_of(STEPS["sources"](explain_cell(now, Focus(1, 2, 3, key))))
    told = next(each.text for each in items if isinstance(each, Paragraph) and "Why not" in each.text)
    assert f"`{TEXT[key]}`{subscript(key)}?**" in told or scores[key] == max(scores)
    *reasons, against, in_favour, behind = map(float, re.findall(r"(\d+\.\d\d)", told))
    assert sum(reasons) == pytest.approx(against, abs=1e-9)
    assert against - in_favour == pytest.approx(behind, abs=1e-9)
    assert behind == pytest.approx(gap, abs=0.006)


@pytest.mark.parametrize("rival", ["1", "9"])
def test_a_rival_that_cannot_be_is_replaced_with_a_reason(rival: str) -> None:
    now, _ = subject()
    found = explain_cell(now, FOCUS, rival)
    assert found.split.opponent == explain_cell(now, FOCUS).split.opponent
    assert found.note


@pytest.mark.parametrize("is_random", [True, False])
def test_other_sentences_test_the_answer_and_each_row_is_a_link(is_random: bool) -> None:
    """The numbers are those of plain passes over the sentences that the rows name."""
    text, letters, encoder = "ab cd ef", characters(), Encoder(ModelConfig(**SMALL), 0)
    lab = lab_of(encoder, [text], weights="random" if is_random else "minilm")
    scene = Scene(HeadsRun(lab, lab.run), Focus(1, 2, 7, 1))
    items = show(scene, attention_rival="3", attention_word="xyz")
    shown = chart(items, "why_test").frame(scene.now)
    links = [parse_qs(urlsplit(re.findall(r"\((.*)\)", label)[0]).query) for label in shown.index[:2]]
    asked = [[link[key][0] for key in ("text", "query", "key", "attention_rival")] for link in links]
    assert asked == [["cd ab ef", "7", "4", "0"], ["xyz cd ef", "8", "1", "4"]]
    for row, (other, key, rival) in enumerate((("cd ab ef", (3, 4), (0, 1)), ("xyz cd ef", (0, 1, 2), (4, 5)))):
        trace = Trace()
        with torch.inference_mode():
            encoder(letters.encode_batch([other]).ids, None, trace)
        weights = trace["layers.1.attn.pattern"][0, 2, len(other) - 1].double().numpy()
        for column, places in enumerate((key, rival)):
            assert shown.iloc[row, column].endswith(f"**{sum(weights[list(places)]):.2f}**")
    assert "no room" in shown.iloc[2, 2]
    assert ("chance" in words(items)) == is_random
    assert chart(items, "why_parts")
    assert not chart(items, "why_test").compares


@pytest.mark.parametrize(
    ("before", "after"),
    [((0.6, 0.2), (0.3, 0.1)), ((0.6, 0.2), (0.1, 0.3)), ((0.0, 0.0), (0.5, 0.5)), ((0.6, 0.2), (0.3, 0.3))],
)
def test_the_sentence_on_a_swap_has_all_four_numbers(before: tuple[float, float], after: tuple[float, float]) -> None:
    told = describe_swap(replace(swappable(), weights=before), after)
    assert {float(number) for number in re.findall(r"\d\.\d\d", told)} - {CLOSE} == {*before, *after}


def swappable() -> Claim:
    found = find_claim(characters().encode_batch(["ab cd ef"]), 0, np.zeros(8, np.float32), [True] * 8, (7, 0), 3)
    assert isinstance(found, Claim)
    return found


@pytest.mark.parametrize(("after", "counts"), [((0.7, 0.2), False), ((0.5, 0.4), True)])
def test_a_place_that_moves_a_weight_more_than_the_words_differ_counts_too(
    after: tuple[float, float], counts: bool
) -> None:
    told = describe_swap(replace(swappable(), weights=(0.91, 0.02)), after)
    assert "follows the word" in told
    assert ("The place counts too" in told) == counts


@pytest.mark.parametrize("hidden", [True, False])
def test_a_hidden_key_has_a_reason_and_nothing_to_compute(hidden: bool) -> None:
    now, _ = subject(causal=hidden)
    items = show(Scene(now, Focus(1, 2, 1, 3)))
    assert ("comes later in the sentence" in words(items)) == hidden
    assert any(isinstance(each, LabelledBars) for each in items) != hidden
    assert chart(items, "attention_why"), "the panel stays open from cell to cell"


@pytest.mark.parametrize("key", [0, 4])
def test_a_key_outside_of_the_window_is_not_said_to_come_later(key: int) -> None:
    now, _ = subject(window=2, global_every=2)
    for show_what in ("one head", "difference of two heads"):
        items = show(Scene(now, Focus(1, 2, 2, key)), attention_show=show_what)
        told = words(items)
        assert "window" in told
        assert not re.search("later|causal", told)
    assert "window" in draw_chart(chart(items, "attention_pattern"), Scene(now, FOCUS)).now.caption


def test_a_key_that_one_layers_window_hides_is_linked_by_the_heads_of_other_layers() -> None:
    focus = Focus(1, 2, 2, 4)
    now, trace = subject(window=2, global_every=2)
    strongest = int(trace["layers.0.attn.pattern"][0, :, 2, 4].argmax())
    items = show(Scene(now, focus), attention_view="heads that link")
    (row,) = (each for each in items if isinstance(each, Widget) and each.name == "linking_heads")
    assert row.data["heads"][0][:2] == (0, strongest)
    assert chart(items, "heads_that_link_table").frame(now).index[0] == (0, strongest)
    everywhere, _ = subject(window=2)
    assert "No head links" in words(show(Scene(everywhere, focus), attention_view="heads that link"))


def test_the_pinned_run_has_its_own_answer() -> None:
    now, _ = subject()
    before, trace = subject(seed=5)
    scene = Scene(now, FOCUS, before, "pinned", "now")
    assert f"**{float(trace['layers.1.attn.pattern'][0, 2, 3, 1]):.2f}**" in words(show(scene))
    other = Scene(now, FOCUS, before, "pinned", "now", same_tokens=False)
    assert "these reasons are shown for the present settings alone" in words(show(other))


def test_the_ranking_has_both_runs_weights_by_the_larger_of_the_two() -> None:
    (now, trace), (before, other) = subject(), subject(seed=5)
    row, pinned = (each["layers.1.attn.pattern"][0, 2, 3].numpy() for each in (trace, other))
    ranking = chart(show(Scene(now, FOCUS, before, "pinned"), attention_view="ranking"), "attention_ranking")
    assert isinstance(ranking, Bars)
    order = np.argsort(np.maximum(row, pinned))[::-1]
    np.testing.assert_allclose(list(ranking.bars(now)[""].values()), row[order], atol=1e-6)
    np.testing.assert_allclose(list(ranking.bars(before)[""].values()), pinned[order], atol=1e-6)
    assert ranking.table is not None
    assert ranking.on_row is not None
    assert ranking.on_row(ranking.table(now).index[0]) == {"key": int(row.argmax())}


@pytest.mark.parametrize(("causal", "residual"), [(False, True), (True, False)])
def test_entropy_and_rollout_are_those_of_the_patterns(causal: bool, residual: bool) -> None:
    now, trace = subject(causal=causal, residual=residual)
    patterns = np.stack([trace[f"layers.{layer}.attn.pattern"][0].double().numpy() for layer in range(2)])
    entropy = chart(show(Scene(now, FOCUS), attention_view="entropy"), "attention_entropy")
    bits = -(patterns * np.log2(patterns, where=patterns > 0, out=np.zeros_like(patterns))).sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(entropy.values(now), bits, rtol=1e-5)
    assert f"{bits[1, 2]:.2f} bits" in entropy.reading(now)
    highest = np.log2(np.arange(1, 6)).mean() if causal else np.log2(5)
    assert f"{highest:.2f} if every query" in entropy.reading(now)
    shares = chart(show(Scene(now, FOCUS), attention_view="rollout"), "attention_rollout")
    kept = 0.5 if residual else 0  # of a token itself, on its way past the heads
    mixed = [(1 - kept) * each.mean(axis=0) + kept * np.eye(5) for each in patterns]
    np.testing.assert_allclose(shares.values(now), mixed[1] @ mixed[0], rtol=1e-5)
    np.testing.assert_allclose(shares.values(now), rollout(patterns, residual=residual)[1], rtol=1e-5)


def test_a_row_of_a_table_opens_its_head_and_leaves_the_average() -> None:
    now, trace = subject()
    items = show(Scene(now, FOCUS), attention_view="heads that link", attention_show="average of heads")
    table = chart(items, "heads_that_link_table")
    assert isinstance(table, Table)
    assert table.on_row is not None
    shown = table.frame(now)
    weights = np.stack([trace[f"layers.{layer}.attn.pattern"][0, :, 3, 1] for layer in range(2)])
    np.testing.assert_allclose(shown["weight"].sort_index(), weights.ravel(), atol=1e-6)
    layer, head = np.unravel_index(weights.argmax(), weights.shape)
    assert table.on_row(shown.index[0]) == {"layer": layer, "head": head, "attention_show": "one head"}
    grid = chart(items, "attention_grid")
    assert isinstance(grid, HeadGrid)
    assert grid.table is not None
    largest = grid.table(now)
    assert largest.loc[(1, 2), "largest weight"] == pytest.approx(float(trace["layers.1.attn.pattern"][0, 2].max()))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_something_to_show_of_one_token(view: str) -> None:
    now, _ = subject("a", norm="none")
    assert show(Scene(now), attention_view=view)


def test_a_running_sum_ends_at_the_score() -> None:
    products = np.array([3.0, -2.0, 0.5])
    bars, curve = running_sum(np.array([4, 0, 2]), products, products.cumsum())["data"]
    assert bars["y"].tolist() == products.tolist()
    assert bars["customdata"].tolist() == [4, 0, 2]
    assert curve["y"].tolist() == [3.0, 1.0, 1.5]
    assert (bars["marker"]["color"], curve["line"]["color"]) == (palette.Q, palette.K)


# --- positions that are told in attention


def explained(**changes: Any) -> Any:
    now, _ = subject(**changes)
    return explain_cell(now, FOCUS)


@pytest.mark.parametrize("changes", [{"positions": "rotary"}, {"positions": "rotary", "qk_norm": True}])
def test_a_rotary_score_is_drawn_at_every_distance(changes: dict[str, Any]) -> None:
    found = explained(**changes)
    items = parts_of(STEPS["products"](found))
    pairs = chart(items, "why_rotation")
    lines = {each.name: each for each in pairs.curves(None)}
    walk = found.walk
    here = int(np.flatnonzero(lines["the score"].x == walk.query - walk.key)[0])
    assert lines["the score"].y[here] == pytest.approx(walk.unmasked()[walk.key], abs=1e-5)
    np.testing.assert_allclose(lines["the score"].y, lines["fast pairs"].y + lines["slow pairs"].y)
    assert "turn a radian in a few tokens" in pairs.caption


@pytest.mark.parametrize("kind", ["alibi", "relative"])
def test_what_a_score_gets_by_distance_is_a_bar_of_its_own(kind: str) -> None:
    found = explained(positions=kind, relative_buckets=8, relative_distance=20)
    items = parts_of(STEPS["sources"](found))
    table = chart(items, "why_key_sources").table(None)
    bias = found.walk.position_bias()
    assert table.loc["distance", "distance"] == pytest.approx(
        bias[found.walk.key] - bias[found.split.opponent], abs=1e-6
    )
    assert (table.loc["distance"].drop("distance") == 0).all()
    now, _ = subject(positions=kind, relative_buckets=8, relative_distance=20)
    labels = chart(show(Scene(now, FOCUS)), "why_parts").bars(now).labels
    assert "their distances" in labels
    assert "their positions" not in labels
    assert "the distance adds" in chart(parts_of(STEPS["products"](found)), "why_products").caption
