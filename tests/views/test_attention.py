"""The view Attention as a function on values: its charts, answers and tables against torch's own numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.charts.chart import Bars, Item, LabelledBars, Menu, Paragraph, Table
from playground.charts.draw import draw_chart
from playground.charts.names import name_place
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import Focus
from playground.link.params import PARAMS
from playground.text import characters
from playground.text.wording import write_number, write_share
from playground.views.attention import find_answer, habits_in_probes, show_attention
from playground.views.attention_why import ask_why, explain_cell, find_reason, find_swap
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of

TEXT = "abcab"
FOCUS = Focus(1, 2, 3, 1)
OPTIONS: dict[str, Any] = {
    "attention_show": "one head", "attention_colours": "square root", "attention_hide": False,
    "attention_view": "lines", "attention_rival": "automatic", "attention_closer": True,
}  # fmt: skip


def subject(text: str = TEXT, seed: int = 0, *, causal: bool = False, **changes: Any) -> tuple[Lab, Trace]:
    """A small lab, and the trace that the model itself computes."""
    encoder, batch, trace = Encoder(ModelConfig(**SMALL | changes), seed), characters().encode_batch([text]), Trace()
    mask = torch.ones(1, len(text), len(text)).tril().bool() if causal else batch.mask
    with torch.inference_mode():
        encoder(batch.ids, mask, trace)
    return lab_of(encoder, [text], causal=causal), trace


def show(scene: Scene[Lab], **options: object) -> list[Item]:
    return parts_of(show_attention(scene, OPTIONS | options))


def chart(items: list[Item], key: str) -> Any:
    return next(each for each in items if getattr(each, "key", "") == key)


def test_the_map_is_one_head_or_the_average_beside_the_pinned_one() -> None:
    now, trace = subject()
    before, pinned_trace = subject(seed=5, n_layers=1)
    patterns, pinned = trace["layers.1.attn.pattern"][0].numpy(), pinned_trace["layers.0.attn.pattern"][0].numpy()
    scene = Scene(now, FOCUS, before, "pinned", "now")
    shown: dict[str, Callable[[Any], Any]] = {
        "one head": lambda heads: heads[2], "average of heads": lambda heads: heads.mean(axis=0),
    }  # fmt: skip
    for how, of in shown.items():
        heatmap = chart(show(scene, attention_show=how), "attention_pattern")
        np.testing.assert_allclose(heatmap.values(now), of(patterns), atol=1e-6)
        drawing = draw_chart(heatmap, scene)
        assert [each.key for each in drawing.beside] == ["head_pinned", "head_difference"]
        np.testing.assert_allclose(drawing.beside[1].figure["data"][0]["z"], of(patterns) - of(pinned), atol=1e-6)
        assert "it has no layer 1" in drawing.beside[0].caption


def test_the_answer_stands_first_and_what_is_folded_makes_nothing() -> None:
    now, _ = subject()
    first, *others = show_attention(Scene(now, FOCUS), OPTIONS | {"attention_closer": False})
    assert isinstance(first, Paragraph)
    assert first.kind == "answer"
    keys = [getattr(each, "key", "") for each in parts_of(others)]
    order = ["linking_0", "attention_pattern", "why_parts", "quick_0", "attention_grid"]
    assert [key for key in keys if key in order] == order
    assert not {"why_key_sources", "attention_lines"} & set(keys)


def test_a_key_that_one_layers_window_hides_is_linked_by_the_heads_of_other_layers() -> None:
    focus = Focus(1, 2, 2, 4)
    now, trace = subject(window=2, global_every=2)
    strongest = int(trace["layers.0.attn.pattern"][0, :, 2, 4].argmax())
    items = show(Scene(now, focus), attention_view="heads that link")
    chosen = chart(items, "linking_0").chooses
    assert (chosen["layer"], chosen["head"]) == (0, strongest)
    assert chart(items, "heads_that_link").frame(now).index[0] == (0, strongest)
    everywhere, _ = subject(window=2)
    items = show(Scene(everywhere, focus), attention_view="heads that link")
    assert not [each for each in items if isinstance(each, Table) or getattr(each, "key", "") == "linking_0"]


@pytest.mark.parametrize("causal", [False, True])
def test_entropy_is_that_of_the_patterns(causal: bool) -> None:
    now, trace = subject(causal=causal)
    patterns = np.stack([trace[f"layers.{layer}.attn.pattern"][0].double().numpy() for layer in range(2)])
    entropy = chart(show(Scene(now, FOCUS), attention_view="entropy"), "attention_entropy")
    bits = -(patterns * np.log2(patterns, where=patterns > 0, out=np.zeros_like(patterns))).sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(entropy.values(now), bits, rtol=1e-5)
    highest = np.log2(np.arange(1, 6)).mean() if causal else np.log2(5)
    assert f"{write_number(bits[1, 2])} bits" in entropy.reading(now)
    assert write_number(highest) in entropy.reading(now)


def test_a_row_of_a_table_opens_its_head_and_leaves_the_average() -> None:
    now, trace = subject()
    items = show(Scene(now, FOCUS), attention_view="heads that link", attention_show="average of heads")
    table = chart(items, "heads_that_link")
    assert isinstance(table, Table)
    assert table.on_row is not None
    shown = table.frame(now)
    weights = np.stack([trace[f"layers.{layer}.attn.pattern"][0, :, 3, 1] for layer in range(2)])
    np.testing.assert_allclose(shown["weight"].sort_index(), weights.ravel(), atol=1e-6)
    layer, head = np.unravel_index(weights.argmax(), weights.shape)
    assert table.on_row(shown.index[0]) == {"layer": layer, "head": head, "attention_show": "one head"}
    largest = chart(items, "attention_grid").table(now)
    assert largest.loc[1, 2] == pytest.approx(float(trace["layers.1.attn.pattern"][0, 2].max()))


def test_habits_are_those_of_fixed_sentences() -> None:
    now, _ = subject()
    found = habits_in_probes(now)
    scores = chart(show(Scene(now, FOCUS), attention_view="what heads are known for"), "known_for").frame(now)
    for rule in scores.columns[1:]:
        np.testing.assert_allclose(scores[rule], found.scores[rule].ravel())
    assert list(scores["known for"]) == [found.known_for(*place) or "–" for place in scores.index]


def test_a_head_is_switched_off_or_its_link_cut_and_what_moved_is_said() -> None:
    now, _ = subject()
    off, cut = (chart(show(Scene(now, FOCUS)), f"quick_{number}") for number in (0, 1))
    assert (str(off.chooses["do"]), str(cut.chooses["do"])) == ("1.2:zero", "1.2:cut_3_1")
    made = now.at(replace(now.state, values={**now.values, "do": off.chooses["do"]}))
    items = show(Scene(made, FOCUS))
    start, end = (lab.run.arrays["final"].mean(axis=0) for lab in (now, made))
    moved = write_share(float(np.linalg.norm(end - start) / np.linalg.norm(start)))
    assert any(f"moves by **{moved}**" in each.text for each in items if isinstance(each, Paragraph))
    assert str(chart(items, "quick_0").chooses["do"]) == "", "a second press takes it back"
    hidden, _ = subject(causal=True)
    assert chart(show(Scene(hidden, Focus(1, 2, 1, 3))), "quick_1").is_disabled


def test_random_weights_have_no_why_but_a_way_to_trained_ones() -> None:
    random = lab_of(Encoder(ModelConfig(**SMALL), 0), [TEXT], weights="random")
    items = show(Scene(random, FOCUS), attention_closer=False)
    assert not [each for each in items if isinstance(each, LabelledBars)]
    chosen = chart(items, "open_trained").chooses
    assert (chosen["weights"], chosen["n_layers"]) == ("english", 2)


@pytest.mark.parametrize("view", PARAMS["attention_view"].options)
def test_every_view_has_something_to_show_of_one_token(view: str) -> None:
    now, _ = subject("a", norm="none")
    assert show(Scene(now), attention_view=view)


def place_of(key: int) -> str:
    return name_place(f"`{TEXT[key]}`", key)


@pytest.mark.parametrize(("key", "show"), [(0, "one head"), (1, "one head"), (4, "one head"), (2, "average of heads")])
def test_the_answer_has_the_keys_weight_and_the_strongest_others(key: int, show: str) -> None:
    now, trace = subject()
    heads = trace["layers.1.attn.pattern"][0, :, 3].double().numpy()
    row = heads[2] if show == "one head" else heads.mean(axis=0)
    case, numbers = find_answer(now.run, Focus(1, 2, 3, key), OPTIONS | {"attention_show": show})
    other = max({*range(5)} - {key}, key=lambda each: row[each])
    assert case == ("most" if row[key] > row[other] else "other")
    assert (numbers["weight"], numbers["second"]) == pytest.approx((row[key], row[other]), abs=1e-6)
    assert (numbers["key"], numbers["other"]) == (place_of(key), place_of(other))


def test_the_answer_names_a_hidden_key_and_an_only_one() -> None:
    now, _ = subject(causal=True)
    assert find_answer(now.run, Focus(1, 2, 1, 3), OPTIONS)[0] == "hidden"
    case, numbers = find_answer(now.run, Focus(1, 2, 0, 0), OPTIONS)
    assert (case, numbers["weight"]) == ("only", 1)


@pytest.mark.parametrize("rival", ["automatic", "mean", "0", "2", "4"])
def test_the_bars_are_the_difference_to_the_chosen_rival(rival: str) -> None:
    """The scores are the model's own, in another pass; the mean is over the keys that the query may attend to."""
    now, trace = subject(causal=True)
    scores = trace["layers.1.attn.scores"][0, 2, 3].double().numpy()[:4]
    strongest = max(scores[[0, 2]])
    # Position 4 comes later than the query, so the strongest other key takes its place.
    others = {"automatic": strongest, "mean": scores.mean(), "0": scores[0], "2": scores[2], "4": strongest}
    lead = scores[1] - others[rival]
    items = show(Scene(now, FOCUS), attention_rival=rival, attention_view="sources")
    for key in ("why_parts", "why_key_sources"):
        assert sum(chart(items, key).values) == pytest.approx(lead, abs=1e-4)
    (menu,) = chart(items, "why_parts").controls
    assert isinstance(menu, Menu)
    assert menu.names.keys() == {"automatic", "mean", "0", "2", "3"}
    _, numbers = find_reason(explain_cell(now, FOCUS, rival))
    assert numbers["lead"] == pytest.approx(lead, abs=1e-5)
    assert numbers["weight"] == pytest.approx(float(trace["layers.1.attn.pattern"][0, 2, 3, 1]), abs=1e-6)


@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_what_a_weight_moves_adds_up(positions: str) -> None:
    now, _ = subject(positions=positions)
    moved = chart(show(Scene(now, FOCUS), attention_view="what it moves"), "why_moved")
    assert sum(moved.values) == pytest.approx(1, abs=1e-5)
    labels = chart(show(Scene(now, FOCUS)), "why_parts").labels
    assert ("their distances" in labels, "their positions" in labels) == (positions == "alibi", positions == "learned")


def test_a_question_is_about_the_models_weights() -> None:
    now, trace = subject(causal=True)
    row = trace["layers.1.attn.pattern"][0, 2, 3].numpy()
    for key in (0, 1, 2):
        rival = max({0, 1, 2} - {key}, key=lambda each: row[each])
        asked = ask_why(now.run, Focus(1, 2, 3, key))
        assert ("not look more" in asked) == (row[key] < row[rival])
    assert "not look at" in ask_why(now.run, Focus(1, 2, 1, 3))


def test_a_swap_shows_the_weights_of_both_sentences() -> None:
    """The numbers are those of a plain pass over the swapped sentence."""
    encoder = Encoder(ModelConfig(**SMALL), 0)
    lab = lab_of(encoder, ["ab cd ef"])
    focus = Focus(1, 2, 7, 1)
    claims = find_swap(lab, explain_cell(lab, focus, "3"))
    assert claims is not None
    trace = Trace()
    with torch.inference_mode():
        encoder(characters().encode_batch(["cd ab ef"]).ids, None, trace)
    weights = trace["layers.1.attn.pattern"][0, 2, 7].double().numpy()
    assert claims[1].weights == pytest.approx((weights[3:5].sum(), weights[0:2].sum()), abs=1e-6)
    items = show(Scene(lab, focus), attention_rival="3", attention_view="swap two words")
    table = chart(items, "why_swap").frame(lab)
    assert table.to_numpy().tolist() == [[f"{weight:.2f}" for weight in claim.weights] for claim in claims]
    random = lab_of(encoder, ["ab cd ef"], weights="random")
    assert find_swap(random, explain_cell(random, focus, "3")) is None


def test_the_ranking_has_both_runs_weights_in_the_present_order() -> None:
    (now, trace), (before, other) = subject(), subject(seed=5)
    row, pinned = (each["layers.1.attn.pattern"][0, 2, 3].numpy() for each in (trace, other))
    ranking = chart(show(Scene(now, FOCUS, before, "pinned"), attention_view="ranking"), "attention_ranking")
    assert isinstance(ranking, Bars)
    order = np.argsort(row)[::-1]
    for each, weights in ((now, row), (before, pinned)):
        np.testing.assert_allclose(list(ranking.bars(each)[""].values()), weights[order], atol=1e-6)
    assert ranking.table is not None
    assert ranking.on_row is not None
    assert ranking.on_row(ranking.table(now).index[0]) == {"key": int(row.argmax())}
