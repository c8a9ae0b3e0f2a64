"""Links that an earlier deploy made show on this one's server what they showed on that one's.

`tests/data/links_of_version_1.json` is what the app as of 21 November 2026, the last whose links say v=1, told through
its websocket when it opened them: the values of all widgets, which links leave out where they are at their defaults. It
had fewer pages and parameters, other defaults of two of them, and a focus for each page.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.load.student import visit
from playground.link.params import FOCUS, PARAMS
from playground.web.sidebar.controls import EXPERT
from tests.browser.server import Server, serve
from tests.browser.shown_values import shown_values
from tests.waiting import run_coroutine

LINKS = json.loads((Path(__file__).parents[1] / "data" / "links_of_version_1.json").read_text(encoding="utf-8"))


async def differences(port: int, link: dict[str, Any]) -> dict[str, tuple[object, object]]:
    """What a link shows otherwise than it did, with its value then and now."""
    async with visit(port, link["page"], link["query"]) as student:
        await student.open()
        await student.set(EXPERT, True)
        now: dict[str, object] = {**shown_values(student)}
        address = parse_qs(student.query)
    now |= {key: int(address[key][-1]) if key in address else FOCUS[key].default for key in link["focus"]}
    then = {**link["shows"], **link["focus"]}
    # What has no effect, or stands in a closed panel, is not drawn: it is at its default.
    now |= {key: str(PARAMS[key].default) for key in then if key in PARAMS and key not in now}
    return {key: (value, now.get(key)) for key, value in then.items() if now.get(key) != value}


def port_of(server: Server) -> int:
    return urlsplit(server.url).port or 80


@pytest.mark.parametrize("link", LINKS, ids=lambda link: f"{link['page']}?{link['query'][:40]}")
def test_a_link_of_an_earlier_deploy_shows_the_same_values(server: Server, link: dict[str, Any]) -> None:
    assert len(link["shows"]) > 20
    assert run_coroutine(differences(port_of(server), link)) == {}
    assert server.tracebacks() == []


def test_a_deploy_that_changed_a_default_would_be_noticed(tmp_path: Path) -> None:
    """Which is why a default stays as it is once it is public, or older links are given it by `link.old_links`."""
    with serve(tmp_path, "-m", "tests.browser.other_defaults") as changed:
        found = run_coroutine(differences(port_of(changed), LINKS[0]))
    assert found["n_layers"] == ("6", "4")
