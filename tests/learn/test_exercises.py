"""Every shipped exercise, solved: right, and with each mistake that is to be expected."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from playground.charts.chart import Chart, Columns, Group, Item, Later, Panel, Paragraph, Table
from playground.config import ModelConfig
from playground.errors import InputError
from playground.learn import exercises
from playground.learn.answers import Choose, Settings
from playground.learn.exercise import Exercise, Mistake, Variant, read_exercise, variants_of
from playground.learn.quantities import Numbers
from playground.link.kinds import Switch
from playground.link.opening import LinkedView, open_texts
from playground.link.params import ARCHITECTURE, SHARED
from playground.model import Encoder, causal_mask
from playground.views.all_views import VIEWS
from tests.learn.test_reading import WHOLE

FILES = {path.stem: path for path in sorted(Path(exercises.__path__[0]).glob("*.yaml"))}

KINDS = {"choose", "number", "click", "order", "draw", "settings"}


@cache
def read(key: str) -> Exercise:
    return read_exercise(FILES[key].read_text(), FILES[key].name)


@cache
def first_variant(key: str) -> Variant:
    return Variant(read(key), 0)


def variants(key: str) -> Iterator[Variant]:
    """A variant for each case, the first one first."""
    yield first_variant(key)
    missing = [{name: str(value) for name, value in case.items()} for case in read(key).cases[1:]]
    numbers = iter(range(1, 1_000))
    while missing:
        variant = Variant(read(key), next(numbers))
        if variant.case in missing:
            missing.remove(dict(variant.case))
            yield variant


def test_there_are_36_of_three_levels_and_all_kinds_and_their_map_has_no_cycle() -> None:
    every = {key: read(key) for key in FILES}
    assert len(every) >= 36
    for level in (1, 2, 3):
        assert len(every) / 5 < sum(each.level == level for each in every.values()) < len(every) / 2
    for kind in KINDS:
        assert sum(each.answer.kind == kind for each in every.values()) >= 3
    seen: dict[str, int] = {}

    def depth(key: str, path: tuple[str, ...] = ()) -> int:
        assert key not in path, f"{' rests on '.join((*path, key))}"
        if key not in seen:
            seen[key] = 1 + max((depth(other, (*path, key)) for other in every[key].rests_on), default=0)
        return seen[key]

    for key, each in every.items():
        depth(key)
        assert all(every[other].level <= each.level for other in each.rests_on)


@pytest.mark.parametrize("key", FILES)
def test_an_exercise_is_written_as_it_should_be(key: str) -> None:
    exercise = read(key)
    assert exercise.key == key
    assert 3 <= len(exercise.cases) <= 8
    assert 1 <= len(exercise.mistakes) <= 4
    assert all(mistake.example is not None for mistake in exercise.mistakes)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("key", FILES)
def test_it_is_solved_by_hand_and_each_mistake_is_taken_for_what_it_is(key: str) -> None:
    variant = first_variant(key)
    verdict = variant.check(variant.read(read(key).solved))
    assert verdict.is_right, variant.truth
    for mistake in read(key).mistakes:
        verdict = variant.check(variant.read(mistake.example))
        assert not verdict.is_right
        assert verdict.mistake is mistake
        assert verdict.feedback
        assert "{" not in verdict.feedback


@pytest.mark.sampled(16)
@pytest.mark.parametrize("key", FILES)
def test_in_every_case_it_has_one_truth_and_can_be_explained(key: str) -> None:
    exercise = read(key)
    for variant in variants(key):
        usual = open_texts(exercise.page, {}).notices
        for view in filter(None, (variant.view, variant.other)):
            assert view.notices == usual  # nothing was repaired
        truth, answer = variant.truth, exercise.answer
        if isinstance(answer, Choose):
            assert answer.several or len(truth) == 1  # type: ignore[arg-type]
            assert len(truth) < len(answer.options) or answer.several  # type: ignore[arg-type]
        if isinstance(answer, Settings):
            assert truth is False  # there is something to do
        else:
            right = right_answer(variant)
            assert variant.is_right(right)
            for mistake in exercise.mistakes:
                assert not holds(variant, mistake, right), (variant.case, mistake.name)
        texts = [exercise.question, *exercise.hints, *(mistake.feedback for mistake in exercise.mistakes)]
        explained = [variant.explain(exercise.explanation), *map(variant.fill, texts)]
        assert not any("{" in text or "nan" in text.split() for text in explained), explained


@pytest.mark.parametrize("key", ["sink", "previous-token-head", "linking-head", "striking-pattern"])
def test_where_the_words_name_a_head_it_is_that_one_in_every_case(key: str) -> None:
    for variant in variants(key):
        assert variant.is_right(variant.read(read(key).solved))


@pytest.mark.parametrize("key", [key for key in FILES if "{n} tokens" in read(key).question])
def test_a_text_has_as_many_tokens_as_the_question_says(key: str) -> None:
    for variant in variants(key):
        assert variant.explain("{= tokens | .0f}") == variant.case["n"]


def holds(variant: Variant, mistake: Mistake, given: Any) -> bool:
    """Whether an answer would be taken for a mistake if it were not right."""
    return bool(variant.compute(mistake.when, given))


def right_answer(variant: Variant) -> Any:
    """The truth, as an answer."""
    answer, truth = variant.exercise.answer, variant.truth
    if isinstance(truth, dict):
        return tuple(sorted(truth, key=truth.__getitem__, reverse=answer.wanted == "largest first"))  # type: ignore
    if isinstance(truth, Numbers) and answer.kind == "click":
        flat = int(truth.values.argmax() if answer.wanted == "largest" else truth.values.argmin())
        return (flat,) if truth.values.ndim == 1 else divmod(flat, truth.values.shape[1])
    return tuple(variant.heights) if isinstance(truth, Numbers) else truth


@pytest.mark.parametrize("key", [key for key in FILES if read(key).shown or read(key).hidden])
def test_its_charts_stand_on_its_page(key: str) -> None:
    exercise = read(key)
    for variant in variants(key):
        on_page = chart_keys(variant.view)
        assert {*exercise.shown, *exercise.hidden} <= on_page, sorted(on_page)


def chart_keys(view: LinkedView) -> set[str]:
    shown = VIEWS[view.page]
    return set(keys_of(shown.show(shown.scene(view), view.values)))


def keys_of(items: Any) -> Iterator[str]:
    each: Item
    for each in items:
        match each:
            case Chart() | Table():
                yield each.key
            case Paragraph(kind="answer"):
                yield "answer"
            case Columns(columns=columns):
                for column in columns:
                    yield from keys_of(column)
            case Group(items=inner) | Panel(items=inner) | Later(inner):
                yield from keys_of(inner)


RUN = {"weights": "random", "tokenizer": "word", "text": "a b c", "d_model": 32, "n_heads": 4, "n_layers": 2}


def exercise(answer: dict[str, Any], **changed: Any) -> Exercise:
    plain: dict[str, Any] = {
        "state": RUN,
        "cases": [],
        "mistakes": [],
        "explanation": "So.",
        "page": "attention",
        "solved": None,
    }
    return read_exercise(yaml.safe_dump({**yaml.safe_load(WHOLE), **plain, "answer": answer, **changed}))


def posed(answer: dict[str, Any], **changed: Any) -> Variant:
    return Variant(exercise(answer, **changed), 0)


def mistake(when: str) -> dict[str, Any]:
    return {"mistakes": [{"name": "expected", "when": when, "feedback": "Look again."}]}


def test_variant_0_has_the_first_case_and_others_are_the_same_everywhere() -> None:
    one = read_exercise(WHOLE)
    first = Variant(one, 0)
    assert first.fill("{width} {model} $d_{model}$") == "64 {model} $d_{model}$"
    assert first.truth == 16
    assert first.explain(one.explanation) == "It is 16."
    assert [each.case["width"] for each in variants_of(one)] == ["64", "32"]
    numbers = {Variant(one, number).case["width"]: number for number in range(8)}
    assert len(numbers) == 2
    assert Variant(one, 5) == Variant(one, 5)
    assert Variant(one, 1).case["width"] == "32", "as on every machine"


def test_one_of_several_options() -> None:
    options = {"more": {"text": "More", "when": "1 > 2"}, "less": {"text": "Less", "when": "1 < 2"}}
    variant = posed({"kind": "choose", "options": options}, **mistake("answer == 'more'"))
    assert variant.check(variant.read("less")).is_right
    wrong = variant.check(variant.read(["more"]))
    assert (wrong.is_right, wrong.feedback) == (False, "Look again.")
    assert not variant.check(("more", "less")).is_right
    wrong_answers: tuple[object, ...] = ("other", [], None, 3)
    for answer in wrong_answers:
        with pytest.raises(InputError):
            variant.read(answer)
    with pytest.raises(InputError, match="None of the options"):
        _ = posed({"kind": "choose", "options": {key: {**options["more"]} for key in ("a", "b")}}).truth


def test_several_options() -> None:
    options = {name: {"text": name, "when": f"{i} < 2"} for i, name in enumerate("abc")}
    variant = posed({"kind": "choose", "several": True, "options": options}, **mistake("'c' in answer"))
    assert variant.check(variant.read(["b", "a"])).is_right
    assert variant.check(variant.read(["a", "b", "c"])).feedback == "Look again."
    assert variant.check(variant.read("a")).mistake is None


def test_a_number_within_its_tolerance() -> None:
    answer = {"kind": "number", "truth": "config[d_model] / config[n_heads]", "tolerance": 0.1}
    variant = posed(answer, **mistake("near(answer, config[d_model])"))
    assert [variant.is_right(number) for number in (7.1, 7.3, 8.0, 8.7, 9.0)] == [False, True, True, True, False]
    assert variant.check(33.0).feedback == "Look again."
    assert posed({**answer, "tolerance": 0.0, "within": 2.0}).is_right(10)
    for text in ("nan", "inf", "x", None, [1]):
        with pytest.raises(InputError):
            variant.read(text)


def test_a_cell_by_place_or_by_name() -> None:
    variant = posed({"kind": "click", "of": "pattern[1,2]"}, **mistake("row == column"))
    weights = variant.view.run.pattern(1)[2]
    best = np.unravel_index(weights.argmax(), weights.shape)
    assert variant.read(["a", "c"]) == (0, 2)
    for cell in np.ndindex(*weights.shape):
        verdict = variant.check(variant.read([int(each) for each in cell]))
        assert verdict.is_right == (cell == best)
        assert (verdict.mistake is not None) == (not verdict.is_right and cell[0] == cell[1])
    for answer in (["a"], ["a", "z"], "a", [0, 3], [-1, 0], None):
        with pytest.raises(InputError):
            variant.read(answer)


def test_a_token_with_the_smallest_number() -> None:
    variant = posed({"kind": "click", "of": "pattern[0,1,b]", "wanted": "smallest"}, **mistake("row_name == 'b'"))
    row = variant.view.run.pattern(0)[1, 1]
    assert [variant.is_right((i,)) for i in range(3)] == [weight == row.min() for weight in row]
    with pytest.raises(InputError, match="numbers along an axis"):
        _ = posed({"kind": "click", "of": "pattern[0,1,b,c]"}).truth


def test_an_order_in_which_equal_things_may_change_places() -> None:
    items = {name: {"text": name, "value": value} for name, value in {"x": "2", "y": "1", "z": "1 + 1"}.items()}
    variant = posed({"kind": "order", "items": items}, **mistake("first == 'y'"))
    assert variant.is_right(variant.read(["x", "z", "y"]))
    assert variant.is_right(variant.read(["z", "x", "y"]))
    assert variant.check(variant.read(["y", "x", "z"])).feedback == "Look again."
    for answer in (["x", "y"], ["x", "x", "z"], "x", ["x", "y", "w"]):
        with pytest.raises(InputError):
            variant.read(answer)
    assert posed({"kind": "order", "items": items, "wanted": "smallest first"}).is_right(("y", "x", "z"))


def test_a_curve_by_five_handles() -> None:
    text = {**RUN, "text": "a b c d e f g"}
    answer = {"kind": "draw", "of": "pattern[0,0,a]", "tolerance": 0.1, "low": 0, "high": 1, "x_title": "key"}
    variant = posed({**answer, "y_title": "weight"}, state=text, **mistake("answer[0] > answer[4]"))
    row = variant.view.run.pattern(0)[0, 0]
    np.testing.assert_array_equal(variant.heights, row[[0, 2, 3, 4, 6]])
    assert variant.is_right(tuple(variant.heights + 0.09))
    assert not variant.is_right((*variant.heights[:4], variant.heights[4] + 0.11))
    assert variant.check((9.0, 0.0, 0.0, 0.0, 0.0)).feedback == "Look again."
    for heights in ([1, 2], [1, 2, 3, 4, "x"], [1, 2, 3, 4, float("nan")], None):
        with pytest.raises(InputError):
            variant.read(heights)


def test_settings_until_a_condition_holds() -> None:
    answer = {"kind": "settings", "until": "parameters.total < start.parameters.total", "keep": ["d_model"]}
    variant = posed(answer, **mistake("config[d_ff] > start.config[d_ff]"))
    assert variant.truth is False
    assert variant.check(variant.read({"n_layers": 1})).is_right
    assert "`d_model`" in variant.check(variant.read({"d_model": 16})).feedback
    assert variant.check(variant.read({"d_ff": 3072})).feedback == "Look again."
    assert variant.check(variant.read({})).mistake is None


def test_an_explanation_that_cannot_be_computed_is_a_sentence() -> None:
    variant = posed({"kind": "number", "truth": "1"})
    for text in (
        "{= pattern[0,0,zebra,a]}",
        "{= 1 | zz}",
        "{= 1 | 999999999d}",
        "{= 1.5 | d}",
        "{= " + " " * 1_900 + "}",
    ):
        with pytest.raises(InputError):
            variant.explain(text)
    assert variant.explain("{= 1/3} {= config[norm]} {= pattern[0,0,a,b] | .1%}").startswith("0.3333 layer ")


def single_settings(key: str, most: int = 2_048) -> Iterator[tuple[str, Any, LinkedView]]:
    """Every state that one setting of the architecture, or the mask, leads to from an exercise's, if it can be run."""
    variant = first_variant(key)
    for name, param in {**ARCHITECTURE, "causal": SHARED["causal"]}.items():
        options: tuple[Any, ...] = (True, False) if isinstance(param, Switch) else param.options  # type: ignore
        for option in options:
            if isinstance(option, int) and option > most:
                continue
            given = variant.open({name: option})
            if not variant.exercise.answer.changed(given, variant):  # type: ignore[union-attr]
                yield name, option, given


@pytest.mark.long
def test_every_single_setting_that_hides_the_order_does_so_for_every_order_and_no_other_is_accepted() -> None:
    variant, accepted = first_variant("hide-the-order"), set()
    for name, option, given in single_settings("hide-the-order", most=256):
        encoder = Encoder(given.config, given.seed).double().eval().requires_grad_(False)
        ids = given.batch.ids[0]
        orders = [torch.tensor(order) for order in permutations(range(len(ids)))]
        allowed = causal_mask(len(ids)) if given.causal else None
        outputs = [encoder(ids[order][None], allowed)[0][order.argsort()] for order in orders]
        moved = max(float((each - outputs[0]).abs().max()) for each in outputs)
        verdict = variant.check(given)
        assert verdict.is_right == (moved < 1e-6), (name, option, moved)
        if verdict.is_right:
            accepted.add((name, option))
    assert accepted == {("positions", "none")}


def test_what_is_said_of_a_feed_forward_that_is_no_cheaper_is_so() -> None:
    variant, seen = first_variant("cheaper-feed-forward"), set()
    start = count_tensors(variant.view.config)
    for name, option, given in single_settings("cheaper-feed-forward", most=512):
        total, of_ffn, of_attention = count_tensors(given.config)
        verdict = variant.check(given)
        assert verdict.is_right == (of_ffn < of_attention), (name, option)
        if verdict.mistake is not None:
            seen.add(verdict.mistake.name)
            if "another activation" in verdict.mistake.name:
                assert total == start[0], (name, option)
            if "outside" in verdict.mistake.name:
                assert of_ffn == start[1], (name, option)
                assert total != start[0], (name, option)
    assert len(seen) == len(variant.exercise.mistakes)


def count_tensors(config: ModelConfig) -> tuple[int, int, int]:
    """Numbers in all tensors, in those of the feed-forward networks, and of attention."""
    sizes = {name: each.numel() for name, each in Encoder(config, 0).named_parameters()}
    ffn, attn = (sum(size for name, size in sizes.items() if f".{part}." in name) for part in ("ffn", "attn"))
    return sum(sizes.values()), ffn, attn


@pytest.mark.parametrize("key", [key for key in FILES if read(key).answer.kind in ("click", "order")])
def test_the_right_answer_is_ahead_of_every_other_by_a_twentieth(key: str) -> None:
    for variant in variants(key):
        truth = variant.truth
        numbers = sorted(truth.values() if isinstance(truth, dict) else truth.values[np.isfinite(truth.values)].ravel())  # type: ignore
        pairs = list(pairwise(numbers))
        if isinstance(truth, Numbers):
            pairs = pairs[-1:] if read(key).answer.wanted == "largest" else pairs[:1]  # type: ignore[union-attr]
        assert all(more - less > 0.05 * more for less, more in pairs), (variant.case, pairs)


def test_a_head_that_another_change_leaves_as_it_was_is_told_so_and_only_even_rows_are_right() -> None:
    variant = first_variant("uniform-attention")
    for change in ("3.1:zero", "3.2:zero", "4.ffn:off", "3.1:hide_0", "3.1:uniform_0", "3.1:uniform_*"):
        given = variant.open({"do": change})
        pattern, before = (view.run.pattern(3)[1] for view in (given, variant.view))
        verdict = variant.check(given)
        assert verdict.is_right == (np.ptp(pattern) < 1e-6)
        assert ("as they were" in verdict.feedback) == (abs(pattern - before).max() < 1e-6), change
