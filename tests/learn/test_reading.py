"""Files of exercises: what is wrong is one sentence that names the place; hostile ones end at once."""

from contextlib import suppress
from typing import Any

import pytest
import yaml

from playground.errors import InputError
from playground.learn.exercise import Exercise, read_exercise

WHOLE = """\
key: how-wide
title: How wide?
topic: shapes
level: 1
source: by hand
page: parameters
state: {weights: random, d_model: "{width}", n_heads: 4, text: a}
cases: [{width: 64}, {width: 32}]
question: How wide is a head at $d_{model}$ = {width}?
answer:
  kind: number
  truth: config[d_model] / config[n_heads]
solved: 16
mistakes:
  - {name: not divided, when: "near(answer, {width})", feedback: Divide., example: 64}
hints: [One., Two.]
explanation: It is {= config[d_model] / config[n_heads] | .0f}.
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("level: 1", "level: '1'", "`level`: Input should be 1, 2 or 3"),
        ("n_heads: 4", "heads: 4", "no parameter “heads”"),
        ("kind: number", "kind: guess", "`answer`: Input tag 'guess'"),
        ("config[d_model] / config[n_heads]\n", "config[d_model] /\n", "`answer.number.truth`: "),
        ("near(answer, {width})", "nearly(answer)", "`mistakes.1.when`: There is no quantity `nearly`"),
        ("{width})", "{depth})", "no case has depth"),
        ("hints: [One., Two.]", "hints: [One., Two., Three.]", "at most 2"),
        ("cases: [{width: 64}, {width: 32}]", "cases: [{width: 64}, {depth: 32}]", "same names"),
        ("| .0f", "| 999999999f", "with a format"),
        ("topic: shapes", "topics: shapes", "no such name here"),
        ("topic: shapes\n", "", "`topic`: this is missing"),
        ("level: 1", "level: [", "line 6: this is no YAML"),
        ("level: 1", "level: &a [*a]", "alias"),
        ("level: 1", "level: !!python/object/apply:os.system ['true']", "a tag"),
        ("level: 1", f"level: {':'.join(['59'] * 400)}.5", "too large"),
        ("level: 1", f"level: {'[' * 5_000}", "more than 20 deep"),
        ("level: 1", f"level: {'a' * 100_001}", "at most 100,000 are read"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, says: str) -> None:
    assert old in WHOLE
    with pytest.raises(InputError, match=r"^mine\.yaml") as error:
        read_exercise(WHOLE.replace(old, new, 1), "mine.yaml")
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "a", "- a", "null", "1", "\x00", "a: b: c", "\ud800", "? {}", "{[]: 1}"])
def test_what_is_no_exercise_at_all_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        read_exercise(text)


@pytest.mark.parametrize("key", [*yaml.safe_load(WHOLE)])
@pytest.mark.parametrize("value", [None, [], {}, 1.5, "<!--", {"a": [1]}, -1, True, [None]])
def test_no_value_ends_in_anything_but_a_sentence(key: str, value: Any) -> None:
    text = yaml.safe_dump({**yaml.safe_load(WHOLE), key: value})
    with suppress(InputError):
        assert isinstance(read_exercise(text), Exercise)
