"""What if, on values: what followed is what two runs differ by; maps and words have the numbers that are measured."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.charts import palette
from playground.charts.chart import Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.language.family import change, load_shipped
from playground.language.text import IDS, MASK_ID
from playground.link import open_link, params
from playground.link.kinds import Changes, MadeChange
from playground.link.opening import Focus
from playground.link.params import PARAMS
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.views import what_if
from playground.views.what_if_parts import find_nearest, map_patches
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of

TEXT = ["abcdefgh", "abc", "abxdefgh"]
FOCUS = Focus(1, 2, 3, 4)
OFF = Change("zero", 0, 1)
ENCODER = Encoder(ModelConfig(**SMALL), 0)
OPTIONS: dict[str, Any] = {key: param.default for key, param in PARAMS.items() if key.startswith("whatif_")}


def changed_run(*changes: Change, sentence: int = 0) -> Run:
    return run(ENCODER, characters().encode_batch(TEXT), sentence, interventions=changes)


def followed(*changes: Change, sentence: int = 0, is_on: bool = True) -> Scene[what_if.Followed]:
    made = Changes(tuple(MadeChange(each, is_on) for each in changes))
    return Scene(what_if.Followed(lab_of(ENCODER, TEXT, do=made, sentence=sentence + 1)), FOCUS)


def show(scene: Scene[what_if.Followed], **options: object) -> dict[str, Any]:
    """The items of the page, by key, also of those in columns."""
    items = parts_of(what_if.show_what_if(scene, OPTIONS | {f"whatif_{key}": value for key, value in options.items()}))
    return by_key(items)


def by_key(items: Any) -> dict[str, Any]:
    return {getattr(item, "key", type(item).__name__): item for item in reversed(parts_of(items))}


def told(scene: Scene[what_if.Followed], **options: object) -> str:
    """The page's answer."""
    items = parts_of(what_if.show_what_if(scene, OPTIONS | {f"whatif_{key}": value for key, value in options.items()}))
    return " ".join(each.text for each in items if isinstance(each, Paragraph) and each.kind == "answer")


def vector(of: Run) -> Array:
    mean: Array = of.arrays["final"][~of.padding].astype(np.float64).mean(axis=0)
    return mean


def moved(*changes: Change) -> float:
    before, after = vector(changed_run()), vector(changed_run(*changes))
    return float(np.linalg.norm(after - before) / np.linalg.norm(before))


# --- what followed


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_token_has_moved_by_the_difference_of_two_runs(sentence: int) -> None:
    scene = followed(OFF, sentence=sentence)
    runs = changed_run(sentence=sentence), changed_run(OFF, sentence=sentence)
    before, after = (each.arrays["layers.1.out"][~each.padding] for each in runs)
    drawn = draw_chart(what_if.map_tokens(scene), scene).now
    expected = np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)
    np.testing.assert_allclose(drawn.figure["data"][0]["z"][2], expected, atol=1e-5)
    assert drawn.cells is not None
    assert drawn.cells.rows == ("layer", {1: 0, 2: 1})


def test_the_head_that_changed_most_is_found_and_its_difference_drawn() -> None:
    scene = followed(OFF)
    before, after = (each.patterns().astype(np.float64) for each in (scene.now.untouched, scene.now.run))
    shares = np.abs(after - before).sum(axis=-1).mean(axis=-1) / 2
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    assert what_if.find_most_changed(scene.now.moved_weight) == (layer, head)
    found = by_key(what_if.show_most_changed(scene))
    np.testing.assert_allclose(found["whatif_heads"].values(scene.now), shares, atol=1e-6)
    (framed,) = found["whatif_heads"].frames(scene.now)
    assert framed[:2] == ((layer, layer), (head, head)), "the map beside it is of this head"
    np.testing.assert_allclose(found["whatif_most"].values(scene.now), (after - before)[layer, head], atol=1e-6)


def test_the_chosen_head_is_shown_before_after_and_as_a_difference_in_an_open_panel() -> None:
    scene = followed(OFF)
    found = show(scene, chosen=True)
    before, after = (each.pattern(1)[2] for each in (changed_run(), changed_run(OFF)))
    expected = {"whatif_before": before, "whatif_after": after, "whatif_difference": after - before}
    for key, numbers in expected.items():
        np.testing.assert_allclose(found[key].values(scene.now), numbers, atol=1e-6)
    assert by_key(what_if.show_chosen_head(followed(Change("zero", 1, 2)))).keys() == {"whatif_before", "Paragraph"}


def test_first_changes_are_made_and_taken_back() -> None:
    found = show(followed())
    made = [str(found[f"example_{number}"].chooses["do"]) for number in range(3)]
    assert made == ["1.2:zero", "1.2:cut_3_4", "0.*:hide_4,1.*:hide_4"]
    taken_back = show(followed(OFF, Change("zero", 1, 2)))["example_0"]
    assert str(taken_back.chooses["do"]) == "0.1:zero"


def test_the_verdict_is_how_far_the_sentence_moved_beside_the_median_head() -> None:
    effects = moved(OFF) * np.array([0.1, 1, 0.5, 1.5, 1, 1, 0.2, 3])
    further = int((np.delete(effects, 1) > moved(OFF)).sum())
    effects[1] = moved(OFF) * 1.0005  # the head itself, measured in another batch
    case, numbers = what_if.find_verdict(replace(followed(OFF).now, numbers=lambda *_: effects))
    assert (case, numbers["heads"], numbers["further"]) == ("compared", 8, further)
    assert numbers["median"] == pytest.approx(np.median(effects))
    assert (numbers["changes"], numbers["moved"]) == (1, pytest.approx(moved(OFF), rel=1e-4))


# --- which parts matter


def test_each_parts_effect_is_that_of_a_pass_without_it() -> None:
    scene = followed()
    heads = [Change("zero", layer, head) for layer in range(2) for head in range(4)]
    sublayers = [Change("off", layer, None, (name,)) for layer in range(2) for name in ("attn", "ffn")]
    for kind, key, changes in (("heads", "head_effects", heads), ("sublayers", "sublayer_effects", sublayers)):
        shown = show(scene, view="which parts matter", parts=kind)[key].values(scene.now).ravel()
        np.testing.assert_allclose(shown, [moved(each) for each in changes], rtol=1e-3)
    pairs = show(scene, view="which parts matter", parts="pairs of one head")["pair_effects"].values(scene.now)
    assert pairs[3, 4] == pytest.approx(moved(Change("weight", 1, 2, (3, 4, 0.0))), rel=1e-3)
    answer = told(scene, view="which parts matter", parts="heads")
    assert "Layer {}, head {}".format(*divmod(int(np.argmax([moved(each) for each in heads])), 4)) in answer


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [("heads", 0, "1.2:zero"), ("sublayers", 1, "1.ffn:off"), ("pairs of one head", 0, "1.2:cut_3_4")],
)
def test_the_focused_part_becomes_a_change_and_the_view_leaves_changes_out(
    kind: str, number: int, expected: str
) -> None:
    found, changed = (show(scene, view="which parts matter", parts=kind) for scene in (followed(), followed(OFF)))
    assert str(found[f"whatif_switch_{number}"].chooses["do"]) == expected
    (key,) = (key for key in found if key.endswith("_effects"))
    np.testing.assert_array_equal(changed[key].values(None), found[key].values(None))


def test_effects_on_a_hidden_word_are_those_of_a_pass_without_the_head() -> None:
    link = "&".join(f"{key}={value}" for key, value in params.values_of(change(n_layers=1)).items())
    lab = open_link(f"what-if?weights=english&{link}").lab
    network = load_shipped(change(n_layers=1))
    batch = network.tokenizer.encode_batch([params.ENGLISH_TEXT])
    batch.ids[0, params.ENGLISH_PLACE] = MASK_ID

    def word(*changes: Change) -> float:
        final = run(network.encoder, batch, interventions=changes).arrays["final"][params.ENGLISH_PLACE]
        return float(network.network.head(torch.tensor(final)).softmax(-1)[IDS["animal"]])

    found = show(Scene(what_if.Followed(lab)), view="which parts matter", on="right answers")
    expected = [[word(Change("zero", 0, head)) - word() for head in range(4)]]
    np.testing.assert_allclose(found["head_effects"].values(None), expected, atol=1e-5)


# --- where the difference sits


def test_patched_places_are_depths_downwards_with_changed_tokens_framed() -> None:
    shares = np.array([[0, 0.5, 0, 0.001], [0, -0.2, 0.1, 0], [0.3, 0.2, 0.1, 0]], np.float32)
    chart = map_patches(shares, list("a<bc"), list("ax<c"), [1, 2], 2)
    figure = go.Figure(draw_chart(chart, Scene(None)).now.figure)
    np.testing.assert_array_equal(figure.data[0].z, shares)
    assert list(figure.data[0].x) == ["a₀", "x for &lt;₁", "&lt; for b₂", "c₃"]
    assert figure.layout.yaxis.autorange == "reversed", "as layers in every other map"
    assert [(each.x0, each.x1, each.line.color) for each in figure.layout.shapes] == [
        (0.5, 1.5, palette.EMBEDDINGS), (1.5, 2.5, palette.EMBEDDINGS),
    ]  # fmt: skip
    assert find_nearest(shares) == pytest.approx((0, 1, 0.5))
    assert find_nearest(shares * np.nan) is find_nearest(shares[:1, 3:]) is None, "no percentage that rounds to 0"


def test_a_place_is_as_much_nearer_as_its_patch_brings_the_sentence() -> None:
    scene = followed()
    found = show(scene, view="where the difference sits", other=2)  # sentence 2 has other tokens: 3 is taken
    patch = Change("patch", 1, None, ("out", 3, 2))
    assert str(found["whatif_patch_0"].chooses["do"]) == "1.out:patch_3_3"
    start, after, goal = vector(changed_run()), vector(changed_run(patch)), vector(changed_run(sentence=2))
    nearer = 1 - np.linalg.norm(after - goal) / np.linalg.norm(start - goal)
    assert found["patched_places"].values(None)[2, 3] == pytest.approx(nearer, abs=1e-4)
    np.testing.assert_allclose(np.delete(found["patched_places"].values(None)[0], 2), 0, atol=1e-4)


def test_a_sentence_is_copied_with_another_word_and_changes_that_name_a_token_are_switched_off() -> None:
    made = Changes((MadeChange(OFF), MadeChange(Change("hide", 0, None, (3,)))))
    lab = lab_of(ENCODER, ["The man saw it"], text="The man saw it", do=made)
    found = show(Scene(what_if.Followed(lab), Focus(0, 0, 5, 0)), view="where the difference sits")
    chosen = found["whatif_corrupt"].chooses
    first, second = chosen["text"].split("\n")
    assert (first, second[:4], second[7:]) == ("The man saw it", "The ", " saw it")
    assert (chosen["sentence"], chosen["whatif_other"], str(chosen["do"])) == (2, 1, "0.1:zero,-0.*:hide_3")
    assert first[chosen["query"]] != second[chosen["query"]]
    assert show(Scene(what_if.Followed(lab), Focus(0, 0, 3, 0)), view="where the difference sits")[
        "whatif_corrupt"
    ].is_disabled
