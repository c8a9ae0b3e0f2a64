"""Measures everything and prints one table; a missed target is shown, and does not fail."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks import environment, model, pages
from benchmarks.results import Result, table
from playground.web.settings import settings


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers there")
    parser.add_argument("--only", choices=("model", "pages"), help="leave the other part out")
    arguments = parser.parse_args()
    environment.enter()
    torch.set_num_threads(settings().threads)
    results: list[Result] = []
    if arguments.only != "pages":
        results += model.measure()
    if arguments.only != "model":
        results += pages.measure()
    print(environment.describe())
    print(table(results))
    if arguments.json:
        report = {"environment": environment.describe(), "results": [asdict(result) for result in results]}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
