"""Measures everything and prints a table a part, as they come; a missed target is shown, and does not fail."""

import argparse
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks import cluster, comparing, crowd, diagnosis, environment, export, model, pages, sharing, start, training
from benchmarks.results import Result, table
from playground.web.server import read_settings

PARTS: dict[str, Callable[[], Iterable[Result]]] = {
    "model": model.measure,
    "diagnosis": diagnosis.measure,
    "export": export.measure,
    "training": training.measure,
    "pages": pages.measure,
    "start": start.measure,
    "comparing": comparing.measure,
    "sharing": sharing.measure,
    "crowd": crowd.measure,
    "cluster": cluster.measure,
}


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers there")
    parser.add_argument("--only", choices=PARTS, help="leave the other parts out")
    arguments = parser.parse_args()
    environment.enter()
    print(f"{environment.describe()}\n")
    torch.set_num_threads(read_settings(os.environ).threads)
    results: list[Result] = []
    for name, measure in PARTS.items():
        if arguments.only in (None, name):
            results += (part := list(measure()))
            print(f"{name}:\n{table(part)}\n", flush=True)
    if arguments.json:
        report = {"environment": environment.describe(), "results": [asdict(result) for result in results]}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
