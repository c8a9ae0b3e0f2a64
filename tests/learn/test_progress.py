"""What was found: joined, written, read back, and refused where it is something else."""

import pytest

from playground.errors import InputError
from playground.learn.progress import MAX_PROGRESS, Result, join_results, read_progress, write_progress


def test_what_is_written_is_read_back() -> None:
    results = {"a-b": Result(found=True, tries=3), "c": Result(given_up=True), "d": Result(tries=1)}
    assert read_progress(write_progress(results)) == results
    assert [each.status for each in (*results.values(), Result())] == ["found", "given up", "tried", "new"]


def test_two_browsers_results_are_joined_without_counting_twice() -> None:
    one = {"a": Result(found=True, tries=2), "b": Result(tries=1)}
    other = {"a": Result(given_up=True, tries=5), "c": Result(found=True, tries=1)}
    joined = join_results(one, other)
    assert joined == {
        "a": Result(found=True, given_up=True, tries=5),
        "b": Result(tries=1),
        "c": Result(found=True, tries=1),
    }
    assert join_results(joined, joined) == joined


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{]",
        "[]",
        "null",
        '{"version": 2, "exercises": {}}',
        '{"version": 1}',
        '{"version": 1, "exercises": {"<b>": {}}}',
        '{"version": 1, "exercises": {"a": {"found": "yes"}}}',
        '{"version": 1, "exercises": {"a": {"tries": -1}}}',
        '{"version": 1, "exercises": {"a": {"tries": 1e9}}}',
        '{"version": 1, "exercises": {"a": {"more": 1}}}',
        "[" * 100_000,
        "x" * (MAX_PROGRESS + 1),
    ],
)
def test_anything_else_gets_one_short_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_progress(text)
    assert 20 < len(str(caught.value)) < 300
