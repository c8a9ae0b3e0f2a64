"""Links made of junk, through the server's own websocket: a hundred of them, or as many as SOAK_LINKS says.

What a link may take is measured in one of two ways. In CI, four are open at once, and each has seconds on the clock,
the waiting for the others' turns to compute included. `make soak` says how many seconds of processor time a link may
take by itself, and opens one after the other: with a core to spare, that is how long its visitor waits.
"""

import asyncio
import math
import os
import random
from urllib.parse import urlencode, urlsplit

from benchmarks.load.student import LoadError, visit
from benchmarks.server import processor_seconds
from playground.link.params import PARAMS, SHARED, page_parameters
from playground.link.query import MARKER, PINNED_KEYS, read
from tests.browser.server import Server
from tests.waiting import run_coroutine
from tests.web.app_test import PAGES

LINKS = int(os.environ.get("SOAK_LINKS", "100"))
OWN = float(os.environ.get("SOAK_SECONDS", math.inf))
"""Seconds of the server's processor time that a link may take, where they are opened one after the other."""
AT_ONCE = 4 if math.isinf(OWN) else 1
LONGEST = 20.0
"""Seconds on the clock that a link may take, whatever it waits for; then the app says that it is busy."""

WORDS = [
    "", " ", "NaN", "-1", "0", "1e9", "9" * 40, "--5", "²", "0x10", "12.0", "3,4", "true", "none", "null", "[]", "🙂",
    "\x00", "\u202e12", "<img src=x onerror=alert(1)>", "`x` **y** [z](w) $x$", "'; drop table runs; --", "../../x",
    "%00", "trained", "random", "minilm", "\n\n\n", "word " * 300, "a" * 3000,
]  # fmt: skip


CHANGES = [
    "3.1:zero", "-3.1:zero", "0.*:zero~0.5,1.ffn:off", "1.attn:off,1.*:off", "0.0:cut_1_2,0.0:force_1_2_after",
    "2.3:weight_4_4_0.25~0.5", "1.0:uniform_*,1.1:diagonal_3", "0.1:copy_2_0", "positions:shuffle_7,embed:patch_*_2",
    "0.out:patch_1_2,5.z:patch_2_1", "95.95:mean,0.0:mean", "3.1:zero," * 40, "3.1:cut_4,<b>,2.ffn:off",
]  # fmt: skip
"""Values of `do`: many cannot apply, some contradict each other, and some are none."""


def hostile_query(chance: random.Random) -> dict[str, str]:
    """Up to twenty parameters with junk, with values of their own, and with those of others."""
    keys = [*PARAMS, *PINNED_KEYS, MARKER, "v", "tour", "unknown", "__proto__"]
    query = {}
    for key in chance.sample(keys, chance.randint(1, 20)):
        param = PARAMS.get(chance.choice([key, key, chance.choice(list(PARAMS))]))
        options = param.options if param else ()
        words = CHANGES if param and param.kind == "notation" else [str(option) for option in options[:99]]
        numbers = [str(chance.choice(options or range(99)))]
        query[key] = chance.choice(chance.choice([WORDS, words or WORDS, numbers]))
    return query


def unnamed_repairs(page: str, query: dict[str, str], alerts: list[str]) -> list[str]:
    """What had to be changed in the parameters that the page reads, and is not said on it.

    A page may have moved the value once more, to what its text has, and says that instead.
    """
    read_here = [key for key in query if key in (*SHARED, *page_parameters(page))]
    repairs = {key: repair for key in read_here if (repair := read(key, [query[key]])[1])}
    return [
        repair
        for key, repair in repairs.items()
        if not any(repair in alert or f"The link's {key} is moved" in alert for alert in alerts)
    ]


async def open_link(port: int, page: str, query: dict[str, str]) -> tuple[float, str]:
    """Seconds until a link's page has come, and what is wrong with it."""
    try:
        async with visit(port, page, urlencode(query)) as student:
            seconds = await student.open()
            unnamed = unnamed_repairs(page, query, student.alerts)
            return seconds, f"no word on {unnamed}" if unnamed else ""
    except LoadError as error:
        return 0.0, str(error)


async def open_all(server: Server) -> list[str]:
    """What is wrong with any of the links."""
    chance, port = random.Random(0), urlsplit(server.url).port or 80
    links = [(chance.choice(PAGES).replace("_", "-"), hostile_query(chance)) for _ in range(LINKS)]
    problems, free = [], asyncio.Semaphore(AT_ONCE)

    async def try_one(page: str, query: dict[str, str]) -> None:
        async with free:
            before = processor_seconds(server.process_id)
            seconds, problem = await open_link(port, page, query)
            own = processor_seconds(server.process_id) - before if AT_ONCE == 1 else 0.0
        if problem or seconds > LONGEST or own > OWN:
            problems.append(f"{seconds:.1f} s, {own:.1f} s of its own, {problem} /{page}?{urlencode(query)}")

    await asyncio.gather(*(try_one(page, query) for page, query in links))
    return problems


def test_hostile_links_open_in_time_without_an_error_and_every_repair_is_named(server: Server) -> None:
    assert run_coroutine(open_all(server)) == []
    assert server.tracebacks() == []
