"""Turns of the pages: short ones beside a long one, and an end for what nobody waits for any more."""

import threading

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import BusyError
from playground.runs.budget import check_interrupted, interruptible
from playground.web.session.result_cache import CacheKey, ResultCache
from playground.web.session.services import other_services
from playground.web.session.turns import Turns, current_visitor
from playground.web.shared import page_end
from tests.web.app_test import open_page, without_error

HEAVY = {
    "weights": "random", "n_layers": "12", "d_model": "768", "d_ff": "3072", "n_heads": "12", "tokenizer": "char",
    "text": "\n".join("x" * 248 for _ in range(8)),
}  # fmt: skip


class StoppedError(Exception):
    """Ends a computation that nobody waits for."""


def test_a_short_turn_comes_beside_a_long_one_and_a_second_long_one_waits() -> None:
    turns, entered, leave = Turns(n=1, timeout=0.01), threading.Event(), threading.Event()

    def compute_long() -> None:
        with turns.hold_long_place(), turns.take():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=compute_long)
    thread.start()
    assert entered.wait(30)
    with turns.take():  # the long one needs no other turn
        with pytest.raises(BusyError), turns.take():
            pytest.fail("two short ones at once")
        with pytest.raises(BusyError), turns.hold_long_place():
            pytest.fail("two long ones at once")
    leave.set()
    thread.join(30)
    with turns.hold_long_place(), turns.hold_long_place(), turns.take(), turns.take():
        pass


def test_a_computation_ends_where_its_visitor_wants_it_no_more() -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) == 3:
            raise StoppedError

    def compute() -> None:
        for n in range(5):
            check_interrupted()
            done.append(n)

    with pytest.raises(StoppedError), interruptible(check):
        compute()
    assert done == [0, 1, 2]
    check_interrupted()  # outside nothing ends


def test_outside_of_pages_every_thread_is_a_visitor() -> None:
    assert get_script_run_ctx(suppress_warning=True) is None
    visitor, check = current_visitor()
    assert visitor == threading.get_ident()
    check()


@pytest.mark.parametrize(
    ("page", "query", "long"),
    [
        ("attention", {}, False),
        ("what_if", {}, False),
        ("gradient_flow", {}, False),
        ("similarity", {}, False),
        ("attention", {"text": "", "tokenizer": "word", "weights": "random"}, False),
        ("attention", HEAVY, True),
        ("attention", {"text": " ".join(["again"] * 240)}, True),  # its 72 maps of 240 × 240
        ("attention", {"b_text": " ".join(["again"] * 240)}, True),
        ("parameters", HEAVY, False),
        ("gradient_flow", {"gradient_layers": "48"}, True),
        ("attention", HEAVY | {"n_layers": "96", "d_model": "4096"}, False),  # is refused
    ],
)
def test_a_page_is_long_by_what_it_computes(
    page: str, query: dict[str, str], long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    is_long = page_end.is_long

    def spy(path: str) -> bool:
        seen.append(is_long(path))
        raise BusyError("enough is seen")

    monkeypatch.setattr(page_end, "is_long", spy)
    open_page(page, **query)
    assert seen == [long]


def test_a_long_page_waits_for_the_long_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_end, "is_long", lambda page: page == "norms")
    with other_services(turns=Turns(n=1, timeout=0.01)) as here:
        with here.turns.hold_long_place():
            app = open_page("norms", text="a sentence of a page that is long")
            assert len(app.error) == 1
            without_error(open_page("attention", text="another one, of a page that is short"))
        without_error(app.run())
        with here.turns.take():  # which the long page does not need
            without_error(open_page("norms", text="one more sentence of a page that is long"))


def test_the_one_who_waits_for_anothers_result_computes_it_where_that_one_leaves() -> None:
    computing, leaves, results = threading.Event(), threading.Event(), []

    cache = ResultCache(1_000)

    def compute() -> int:
        if not computing.is_set():
            computing.set()
            assert leaves.wait(30)
            raise StoppedError
        return 7

    key = CacheKey(compute, 7)

    def first() -> None:
        with pytest.raises(StoppedError):
            cache.find(key, compute)

    def second() -> None:
        results.append(cache.find(key, compute))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert computing.wait(30)
    threads[1].start()
    leaves.set()
    for thread in threads:
        thread.join(30)
    assert results == [7]
