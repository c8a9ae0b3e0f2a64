"""Codes of a lesson's results: round trips, what is refused, and a class of sixty counted by hand."""

import base64
import zlib
from hashlib import sha512
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InputError
from playground.export.data import rows_of, write_csv
from playground.learn import results
from playground.learn.results import Received, Result, Task, read_code, read_codes, write_code

KEY = "a secret of this server"
ADA = Result(lesson="0123abcd", title="Mine", visitor="00a1b2", made=1_795_862_000, name="Ada",
             tasks=(Task(2, 3, "found"), Task(5, 1), Task(6, 0, "given up")))  # fmt: skip


def change(**changes: Any) -> Result:
    return Result(**{**dict(ADA), **changes})


TASKS = st.builds(Task, st.integers(1, 20), st.integers(0, 99), st.sampled_from(["open", "found", "given up"]))


@given(st.text(max_size=90), st.lists(TASKS, min_size=1, max_size=30), st.sampled_from(["", KEY]))
def test_a_code_reads_back_as_what_was_written(name: str, tasks: list[Task], key: str) -> None:
    result = change(name=name, tasks=tuple(tasks))
    assert len(result.name) <= 60
    assert result.name.isprintable()
    code = write_code(result, key)
    assert read_code(code, KEY) == (result, bool(key))
    assert read_codes(f'"Smith, Jo",{code};7\n') == ([(result, False)], {}), "here no signature is checked"


def test_thirty_tasks_have_at_most_four_hundred_characters() -> None:
    tasks = tuple(Task(n, n * n % 13, ("open", "found", "given up")[n * n % 7 % 3]) for n in range(1, 31))
    name, title = (base64.b64encode(sha512(word).digest()).decode() for word in (b"name", b"title"))
    assert len(write_code(change(tasks=tasks, name=name, title=title[:40]), KEY)) <= 400


def pack(json: bytes) -> str:
    packer = zlib.compressobj(9, zdict=results._DICTIONARY)
    return "r1." + base64.urlsafe_b64encode(packer.compress(json) + packer.flush()).decode().rstrip("=")


WHOLE, SIGNED, JSON = write_code(ADA), write_code(ADA, KEY), ADA.model_dump_json()
BAD = {
    "hello": "no code",
    "r2" + WHOLE[2:]: "version",
    WHOLE[:-9]: "damaged",
    WHOLE[:20] + ("A" if WHOLE[20] != "A" else "B") + WHOLE[21:]: "damaged",
    "r1." + "A" * 5_000: "damaged",
    pack(b" " * 100_000): "damaged",
    pack(b"[1]"): "damaged",
    pack(JSON.replace('"found"', '"solved"').encode()): "damaged",
    pack(JSON.replace("[2,3,", f"[2,{10**9},").encode()): "damaged",
    write_code(ADA, "another secret"): "not this server's",
    SIGNED[:-1]: "not this server's",
    write_code(change(name="Eve")) + SIGNED[SIGNED.rindex(".") :]: "not this server's",
}


@pytest.mark.parametrize(("code", "why"), BAD.items())
def test_what_is_no_code_of_this_server_is_refused_in_one_sentence(code: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        read_code(code, KEY)
    assert read_codes(f"{WHOLE}\n\n{code}", KEY)[1] == {3: str(refused.value)}


def test_a_text_is_bounded_before_it_is_read() -> None:
    assert len(read_codes("\n".join([WHOLE] * 500))[0]) == 500
    for text in ("\n".join([WHOLE] * 501), "r1.A " * 501, "x" * 200_001):
        with pytest.raises(InputError, match="at most"):
            read_codes(text)


def a_class() -> list[str]:
    """Sixty signed codes: 30 found step 2 at try 1, 20 at try 2, 4 at 3, 3 at 7, 2 earlier, and one has given up."""
    tries = [1] * 30 + [2] * 20 + [3] * 4 + [7] * 3 + [0] * 2
    first = [*(Task(2, n, "found") for n in tries), Task(2, 5, "given up")]
    tasks = [(task, Task(3, 1, "found" if i < 6 else "open")) for i, task in enumerate(first)]
    return [write_code(change(name=f"N{i:02}", tasks=each), KEY) for i, each in enumerate(tasks)]


def test_sixty_codes_are_counted_exactly() -> None:
    received, problems = read_codes("\n".join(a_class()), KEY)
    (shown,) = results.group_by_lesson(received)
    assert results.count_tries(shown) == {
        "1": {2: 30, 3: 6}, "2": {2: 20, 3: 0}, "3": {2: 4, 3: 0}, "4": {2: 3, 3: 0}, "earlier": {2: 2, 3: 0},
        "not": {2: 1, 3: 54},
    }  # fmt: skip
    book = results.write_grade_book(shown)
    assert (len(book), problems, book["found"].sum()) == (60, {}, 59 + 6)
    assert book["step 2"].tolist()[49:] == ["2", *["3"] * 4, *["7"] * 3, "earlier", "earlier", "given up"]
    assert set(book["signed"]) == {"yes"}


def test_of_one_name_a_signed_code_counts_first_then_the_best_then_the_last() -> None:
    best, last = change(tasks=(Task(2, 1, "found"),), made=5), change(tasks=(Task(2, 4, "found"),), made=6)
    worse, other = change(tasks=(Task(2, 9),), name="ADA", made=9), change(name="")
    codes = [(each, False) for each in (last, best, worse, other, change(name="", visitor="000000"), other)]
    (one, two), (shown,) = results.group_by_lesson([Received(*each) for each in codes])
    assert (one.result.visitor, two.result.visitor, shown) == ("00a1b2", "000000", (last, False))
    assert results.group_by_lesson([Received(*each) for each in [(worse, True), *codes]])[1] == [(worse, True)]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"])
def test_a_name_that_a_spreadsheet_would_compute_is_text(name: str) -> None:
    received, _ = read_codes(write_code(change(name=name)))
    line = write_csv(rows_of(results.write_grade_book(received))).decode("utf-8-sig").splitlines()[1]
    assert line.lstrip('0,"').startswith(f"'{name}")
    assert line.endswith("1,3,open,given up,no,2026-11-28 10:33")
