"""Train what is missing of the family and write its table."""

import argparse
import hashlib
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed

import torch
from rich.console import Console
from rich.logging import RichHandler
from rich.progress import track

from playground.language import CAPABILITIES
from playground.language.family import (
    FOLDER,
    TABLE,
    Row,
    change,
    ladder_specs,
    measured_specs,
    path_of,
    shares_of,
    shipped_specs,
    single_changes,
    table,
)
from playground.language.learner import learn
from playground.language.network import EnglishNetwork, Spec, save

logger = logging.getLogger(__name__)


def train(spec: Spec) -> EnglishNetwork:
    """Train a network with one thread."""
    torch.set_num_threads(1)
    return learn(spec)


def train_in_processes(specs: list[Spec], n_processes: int) -> Iterator[EnglishNetwork]:
    """Train in processes; yield networks as they are done."""
    with ProcessPoolExecutor(n_processes) as pool:
        for done in as_completed([pool.submit(train, spec) for spec in specs]):
            yield done.result()


def keep(trained: EnglishNetwork) -> Row:
    """Write a shipped network's file; return its row."""
    content = save(trained)
    is_shipped = trained.spec in shipped_specs()
    if is_shipped:
        path_of(trained.spec).write_bytes(content)
    return Row(trained.shares, hashlib.sha256(content).hexdigest() if is_shipped else "")


def write_table(rows: dict[str, Row]) -> None:
    """Write the rows, and delete files that no row names."""
    keys = [spec.key for spec in measured_specs()]
    kept = {key: rows[key]._asdict() for key in keys if key in rows}
    TABLE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for path in FOLDER.glob("*.safetensors"):
        if path.stem not in kept:
            path.unlink()


def markdown_table(named: Mapping[str, Spec]) -> str:
    """Return percentages right as a Markdown table: the mean of the seeds, or their range from 5 on."""

    def cell(shares: list[float]) -> str:
        low, high = 100 * min(shares), 100 * max(shares)
        return f"{low:.0f}–{high:.0f}" if high - low >= 5 else f"{100 * sum(shares) / len(shares):.0f}"

    lines = [["", *(each.title for each in CAPABILITIES.values())], ["-"] * (len(CAPABILITIES) + 1)]
    for label, spec in named.items():
        shares = shares_of(spec)
        lines.append([label, *(cell(shares[name]) if shares else "" for name in CAPABILITIES)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Train what is missing, or print the tables."""
    console = Console(stderr=True)
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[RichHandler(console=console)])
    parser = argparse.ArgumentParser(prog="python -m playground.language.family", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="networks that train at once")
    parser.add_argument("--table", action="store_true", help="train nothing, and print the tables as Markdown")
    options = parser.parse_args()
    if options.table:
        changes = {f"`{name}={value}`": change(**{name: value}) for name, value in single_changes()}
        sys.stdout.write(f"{markdown_table({'base': Spec(), **changes})}\n{markdown_table(ladder_specs())}")
        return
    rows = dict(table())
    missing = [spec for spec in measured_specs() if spec.key not in rows]
    logger.info("%s of %s networks are missing.", len(missing), len(measured_specs()))
    networks = train_in_processes(missing, options.processes)
    for trained in track(networks, "Training", total=len(missing), console=console):
        rows[trained.spec.key] = keep(trained)
        write_table(rows)
        logger.info(json.dumps(trained.shares))


if __name__ == "__main__":
    main()
