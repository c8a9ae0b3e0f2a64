"""What hostile visitors may cost others and the server: how long a student waits, and how much memory it takes.

`python -m benchmarks.attacks` attacks a server of its own in every way, one after the other, while a student types
sentences, clicks and saves. It prints the student's longest waits, and the most memory beside what deploy/README.md
promises (`benchmarks/load/memory_bound.py`). Memory is compared with that of a server where nobody uploads or trains.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks import environment
from benchmarks.load.lesson import TEXT, WORDS
from benchmarks.load.memory_bound import TRAINING_STEP, memory_bound
from benchmarks.load.student import LoadError, Student, visit
from benchmarks.server import resident_bytes, serve
from playground.web.server import read_settings

LINE, LINES = 248, 8
"""Characters of a sentence of a heavy link, and sentences: almost as much text as there may be."""

SAMPLE = 0.1
"""Seconds between two readings of memory."""

PAUSE = 0.3
"""Seconds from one action of the student to the next."""


@dataclass
class Damage:
    """What a student and a server had to bear."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Of what the student did, by what it was."""
    failures: list[str] = field(default_factory=list)
    most_bytes: int = 0
    n_answers: int = 0
    """What the attackers were answered."""


def heavy_query(seed: int, **more: object) -> str:
    """A link to a model of 85 million random weights on eight long sentences; every seed has others."""
    chance = random.Random(seed)
    lines = ["".join(f"{chance.choice(WORDS)} " for _ in range(LINE))[:LINE].strip() for _ in range(LINES)]
    shape = {"weights": "random", "tokenizer": "char", "n_layers": 12, "d_model": 768, "n_heads": 12, "d_ff": 3072}
    return urlencode({"text": "\n".join(lines), **shape, "seed": seed, **more})


async def keep_opening(port: int, page: str, damage: Damage, seeds: Iterator[int], **more: object) -> None:
    """Open one heavy link of a page after the other."""
    for seed in seeds:
        with contextlib.suppress(LoadError):
            async with visit(port, page, heavy_query(seed, **more)) as attacker:
                await attacker.open()
                damage.n_answers += 1


async def open_and_stay(port: int, damage: Damage, seed: int) -> None:
    """Open one heavy link, and keep the page."""
    with contextlib.suppress(LoadError):
        async with visit(port, "attention", heavy_query(seed)) as attacker:
            await attacker.open()
            damage.n_answers += 1
            await asyncio.Event().wait()


async def rerun(port: int, damage: Damage, a_second: float = 25) -> None:
    """Ask for another heavy page many times a second, and wait for none."""
    async with visit(port, "attention", heavy_query(0)) as attacker:
        await attacker.open()
        for seed in itertools.count(1):
            message = BackMsg()
            message.rerun_script.page_name, message.rerun_script.query_string = "attention", heavy_query(seed)
            await attacker.send(message)
            damage.n_answers += 1
            await asyncio.sleep(1 / a_second)


async def study(port: int, damage: Damage, end: asyncio.Event) -> None:
    """A student who types sentences, clicks on what is computed, and saves charts, until the end."""
    chance = random.Random(7)
    try:
        async with visit(port, "attention", urlencode({"text": TEXT})) as student:
            await student.open()
            cells = list(itertools.product(range(2), range(3)))
            for layer, head in cells:  # from here on these are computed
                await student.click_cell("attention_grid", layer, head)
            await student.set("attention_grid_save_menu", True)
            while not end.is_set():
                damage.seconds["a click"].append(await student.click_cell("attention_grid", *chance.choice(cells)))
                await asyncio.sleep(PAUSE)
                seconds, error = await student.save("attention_grid_save_csv")
                damage.seconds["a CSV file"].append(seconds)
                damage.failures += [error] if error else []
                damage.seconds["a sentence"].append(await _type(student, chance))
                damage.failures += student.alerts
                await asyncio.sleep(PAUSE)
                await student.set("text", TEXT)
                await asyncio.sleep(PAUSE)
    except LoadError as failure:
        damage.failures.append(str(failure))


async def _type(student: Student, chance: random.Random) -> float:
    return await student.set("text", " ".join(chance.choices(WORDS, k=9)))


Attack = Callable[[int, Damage], list[Awaitable[None]]]

ATTACKS: dict[str, Attack] = {
    "nothing": lambda port, damage: [],
    "ten heavy links at once": lambda port, damage: [open_and_stay(port, damage, seed) for seed in range(1, 11)],
    "five gradient flows of 16 × 768 in a loop": lambda port, damage: [
        keep_opening(port, "gradient-flow", damage, itertools.count(1_000 * i), gradient_layers=16) for i in range(5)
    ],
    "25 heavy reruns a second": lambda port, damage: [rerun(port, damage)],
}
"""What may be done to a server, by what it is called."""


async def attack(port: int, process_id: int, attackers: Attack, seconds: float) -> Damage:
    """Attack a server for so long, while a student works and its memory is watched."""
    damage, end = Damage(), asyncio.Event()
    async with _watching(process_id, damage):
        student = asyncio.create_task(study(port, damage, end))
        while not damage.seconds and not student.done():  # until it works
            await asyncio.sleep(SAMPLE)
        tasks = [asyncio.ensure_future(each) for each in attackers(port, damage)]
        await asyncio.sleep(seconds)
        end.set()
        await student
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return damage


@contextlib.asynccontextmanager
async def _watching(process_id: int, damage: Damage) -> AsyncIterator[None]:
    async def watch() -> None:
        while True:
            damage.most_bytes = max(damage.most_bytes, resident_bytes(process_id))
            await asyncio.sleep(SAMPLE)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


def promised_bytes() -> int:
    """What a server may take with the default settings, where nobody uploads, trains or shares a run."""
    chosen = replace(read_settings(os.environ), max_own_weights=0, max_trainings=0, max_shared_bytes=0)
    assert memory_bound(replace(chosen, max_trainings=1)) - memory_bound(chosen) == TRAINING_STEP
    return memory_bound(chosen)


def main() -> None:
    """Parse the command line, attack, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of each attack")
    parser.add_argument("--only", default="", help="attacks with this in their name")
    arguments = parser.parse_args()
    environment.enter("benchmarks.attacks")
    print(environment.describe())
    print(f"the longest of a student's waits, in seconds; promised memory {promised_bytes() / 1e6:,.0f} MB")
    for name, attackers in ATTACKS.items():
        if arguments.only not in name:
            continue
        with serve("streamlit_app.py") as server:
            time.sleep(3)
            damage = asyncio.run(attack(server.port, server.process_id, attackers, arguments.seconds))
        waits = ", ".join(f"{what} {max(all_):.2f} ({len(all_)} times)" for what, all_ in damage.seconds.items())
        obeyed = "within" if damage.most_bytes <= promised_bytes() else "MORE THAN PROMISED"
        print(f"{name}: {waits}; {damage.most_bytes / 1e6:,.0f} MB, {obeyed}; attackers had {damage.n_answers} answers")
        for failure in dict.fromkeys(damage.failures):
            print(f"  failed: {failure}")


if __name__ == "__main__":
    os.environ.setdefault("PLAYGROUND_DOWNLOAD", "0")
    main()
