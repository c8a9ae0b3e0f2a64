"""What a student does in a lesson: opens the shared link, looks at heads, writes sentences, moves sliders, trains."""

import asyncio
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field

from benchmarks.load.student import LoadError, Student, visit

PAGE = "attention"
TEXT = "The animal didn't cross the street because it was too tired."
LAYERS, HEADS = 6, 12
"""Of the trained model, which the shared link shows."""

PAGES = ("norms", "parameters", "positions", "attention")

SLIDERS = {"n_layers": "1 2 3 4 6", "n_heads": "1 2 4 8", "d_model": "128 256 512"}
"""Stops that every combination of works; of what stands in sight in the sidebar."""

WORDS = (
    "Tom",
    "Ann",
    "the",
    "a",
    "cat",
    "gave",
    "sold",
    "saw",
    "book",
    "ball",
    "because",
    "he",
    "she",
    "it",
    "old",
    "red",
)

VISIT = 24
"""Actions after which a student closes the page and comes again."""


@dataclass
class Record:
    """Seconds of every action by its name, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    received: int = 0


async def attend(port: int, record: Record, end: float, pause: float, seed: int) -> None:
    """One student, who acts every `pause` seconds until the clock `time.monotonic()` shows `end`."""
    chance = random.Random(seed)
    while time.monotonic() < end:
        try:
            async with visit(port, PAGE, f"text={TEXT.replace(' ', '+')}") as student:
                record.seconds["open the link"].append(await student.open())
                await asyncio.sleep(pause * chance.random())
                for _ in range(VISIT):
                    begun = time.monotonic()
                    if begun >= end:
                        break
                    name, seconds = await act(student, chance)
                    record.seconds[name].append(seconds)
                    await asyncio.sleep(max(0.0, begun + pause - time.monotonic()))
                record.received += student.received
        except LoadError as failure:
            record.failures.append(str(failure))
            await asyncio.sleep(1)


async def act(student: Student, chance: random.Random) -> tuple[str, float]:
    """Do one thing, which the page offers; returns its name and the seconds until the answer."""
    wish = chance.random()
    if wish < 0.15:
        sentence = " ".join(chance.choices(WORDS, k=chance.randint(4, 14)))
        return "a sentence", await student.set("text", sentence)
    if wish < 0.30:
        if not student.can_use("n_layers"):
            return "random weights", await student.set("weights", "random")
        key = chance.choice(list(SLIDERS))
        return "a slider", await student.set(key, chance.choice(SLIDERS[key].split()))
    if wish < 0.40 or student.page != PAGE:
        pages = [page for page in PAGES if page != student.page]
        page = chance.choice(pages) if student.page == PAGE else PAGE
        return "another page", await student.go(page)
    if wish < 0.70:
        return "another head", await student.click_cell(
            "attention_grid", chance.randrange(LAYERS), chance.randrange(HEADS)
        )
    return "another cell", await student.click_cell("attention_pattern", chance.randrange(1, 4), chance.randrange(1, 4))


async def move_slider(port: int, record: Record, end: float, pause: float, seed: int) -> None:
    """A student at an app that has nothing but a slider."""
    chance = random.Random(seed)
    try:
        async with visit(port, "") as student:
            record.seconds["open the link"].append(await student.open())
            await asyncio.sleep(pause * chance.random())
            while (begun := time.monotonic()) < end:
                record.seconds["a slider"].append(await student.set("number", float(chance.randrange(12))))
                await asyncio.sleep(max(0.0, begun + pause - time.monotonic()))
    except LoadError as failure:
        record.failures.append(str(failure))


async def train(port: int, record: Record, end: float) -> None:
    """A student who starts a training run, and looks at it until the lesson ends."""
    try:
        async with visit(port, "training", "training_steps=5000") as student:
            record.seconds["open the link"].append(await student.open())
            record.seconds["start a training"].append(await student.press("training_start"))
            await asyncio.sleep(max(0.0, end - time.monotonic()))
            record.received += student.received
    except LoadError as failure:
        record.failures.append(str(failure))
