"""Turns: who computes when, and what services they belong to."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from playground.errors import BusyError
from playground.runs.budget import check_interrupted
from playground.web.session import services as turns_module
from playground.web.session.services import FairSemaphore, Turns, current_visitor, leave_turn, other_services
from tests.waiting import until
from tests.web.app_test import open_page, without_error

LONG = 30.0
"""Seconds that no test waits, unless it fails."""


class StoppedError(Exception):
    """Ends a computation that nobody waits for."""


def stop() -> None:
    raise StoppedError


class Visits:
    """Visitors in threads of their own, who note when they come in, and leave when they are told to."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        """Everybody who came in, in this order."""
        self._leave: dict[str, threading.Event] = {}

    def come(self, places: FairSemaphore, *names: str) -> None:
        """Begin visits, whose visitors are the names without numbers; return once all are inside or wait."""
        for name in names:
            self._leave[name] = threading.Event()
            threading.Thread(target=self._visit, args=(places, name)).start()
            until(lambda: len(self.inside) + len(places._waiting) == len(self._leave))

    def leave(self, name: str, inside: list[str]) -> None:
        """End a visit; these have come in by then."""
        self._leave[name].set()
        until(lambda: self.inside == inside)

    def _visit(self, places: FairSemaphore, name: str) -> None:
        with places.hold(name.rstrip("0123456789"), LONG, lambda: None):
            self.inside.append(name)
            assert self._leave[name].wait(LONG)


@pytest.fixture
def visits() -> Iterator[Visits]:
    made = Visits()
    yield made
    for leave in made._leave.values():
        leave.set()


def test_many_pages_of_one_visitor_never_take_more_than_one_place(visits: Visits) -> None:
    visits.come(FairSemaphore(2), *(f"a{n}" for n in range(10)), "b1", "c1")
    assert visits.inside == ["a0", "b1"]
    visits.leave("b1", ["a0", "b1", "c1"])


def test_the_first_come_first_but_there_is_a_place_for_those_whose_last_turn_was_short(visits: Visits) -> None:
    places = FairSemaphore(1)
    places._seconds.update({"short": 0.1, "shorter": 0.0, "long": 5.0})
    visits.come(places, "a", "long", "new", "short", "shorter")
    order = ["a", "short", "shorter", "long", "new"]
    assert visits.inside == order[:2]
    for n, name in enumerate(("short", "a", "long"), 3):
        visits.leave(name, order[:n])


def test_a_place_comes_back_however_a_visit_ends() -> None:
    places = FairSemaphore(1)
    with places.hold("a", LONG, stop), ExitStack() as more:
        with pytest.raises(StoppedError):
            more.enter_context(places.hold("b", LONG, stop))
        with pytest.raises(BusyError, match="try again"):
            more.enter_context(places.hold("b", 0.01, lambda: None))
    with pytest.raises(RuntimeError, match="inside"), places.hold("a", LONG, stop):
        raise RuntimeError("inside")
    with places.hold("b", 0.0, lambda: None):
        pass


def test_the_long_place_is_beside_the_turns_and_takes_none() -> None:
    turns, entered, leave = Turns(1, timeout=0.01), threading.Event(), threading.Event()

    def compute_long() -> None:
        with turns.take("a"), turns.hold_long_place("a"), turns.take("a"), turns.hold_long_place("a"):
            entered.set()
            leave.wait(LONG)

    thread = threading.Thread(target=compute_long)
    thread.start()
    assert entered.wait(LONG)
    with turns.take(), turns.take():  # the second is the first
        with pytest.raises(BusyError), turns.hold_long_place():
            pytest.fail("two long ones at once")
        with turns.take():  # in exchange for the long place the turn was given back
            leave_turn()
            with turns.take():
                pass
    leave.set()
    thread.join(LONG)
    with turns.hold_long_place():
        pass


def test_a_computation_ends_if_its_visitor_has_gone_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "current_visitor", lambda: ("somebody", stop))
    with pytest.raises(StoppedError), Turns(1, LONG).take():
        check_interrupted()
    check_interrupted()  # outside nothing ends


def test_tabs_of_one_browser_are_one_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's cookie hides its token behind another mask each time."""
    assert current_visitor()[0] == threading.get_ident()
    cookies = {"_streamlit_xsrf": ""}
    monkeypatch.setattr(st, "context", SimpleNamespace(cookies=cookies))
    context = SimpleNamespace(session_id="one", session_state={})
    monkeypatch.setattr(turns_module, "get_script_run_ctx", lambda **_: context)
    visitors = []
    for token in (b"ann", b"ann", b"ben"):
        cookies["_streamlit_xsrf"] = generate_xsrf_token_string(token)
        visitors.append(current_visitor()[0])
    assert visitors[0] == visitors[1] != visitors[2]
    for junk in ("", "2|junk", "2|00|ff", "=" * 9_000):
        cookies["_streamlit_xsrf"] = junk
        assert current_visitor()[0] == "one"


def test_a_file_is_made_in_its_visitors_turn_and_a_long_one_beside_the_pages() -> None:
    turns = Turns(0, timeout=0.01)
    assert turns.defer(lambda: "made", is_long=True)() == "made"
    with pytest.raises(BusyError):
        turns.defer(lambda: "made")()


def test_a_page_without_a_turn_says_so_below_its_sidebar() -> None:
    with other_services(turns=Turns(1, timeout=0.01)) as here:
        with here.turns.take():
            app = open_page("norms", text="a sentence of a page that waits")
            assert len(app.error) == 1
            assert app.text_area(key="text").value == "a sentence of a page that waits"
        with here.turns.hold_long_place():
            without_error(app.run())
