"""One client takes its share of the pages, by the address that a proxy names; another comes in all the same."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.attacks.client import PAGE, ask, join, rerun, shake_hands
from tests.browser.server import serve
from tests.waiting import run_coroutine


def test_a_network_that_takes_all_it_can_leaves_room(tmp_path: Path) -> None:
    ann, ben = ({"X-Forwarded-For": f"192.0.2.{n}"} for n in (7, 8))

    async def attack() -> None:
        async with AsyncExitStack() as stack:
            taken = 0
            for _ in range(12):
                if (await shake_hands(server, **ann))[0] == 101:
                    socket = await join(server, ann)
                    stack.callback(socket.transport.abort)  # nobody reads, so a farewell would wait for ten seconds
                    await socket.send(rerun("tutorials"))
                    taken += 1
            assert taken == 6
            assert (await shake_hands(server, **ann)) == (503, "Your network has as many pages open as one may have.")
            assert ask(server, "/", headers={**PAGE, **ann})[0] == 503
            assert ask(server, "/", headers={**PAGE, **ben})[0] == 200
            assert await shake_hands(server, **ben) == (101, "")

    with serve(tmp_path, "-m", "streamlit", "run", PLAYGROUND_MAX_SESSIONS="8") as server:
        run_coroutine(attack())
        assert server.tracebacks() == []
