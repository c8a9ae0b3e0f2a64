"""Train what is missing of the family and write its table; it goes on where it was stopped."""

import argparse
import hashlib
import json
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict

import torch

from playground.language.family import FOLDER, TABLE, Row, measured_specs, path_of, shipped_specs, table
from playground.language.learner import learn
from playground.language.network import Spec, save

logger = logging.getLogger(__name__)


def train(spec: Spec) -> Row:
    """Train a network; the first seed's is written beside this file."""
    torch.set_num_threads(1)
    trained = learn(spec)
    content = save(trained)
    is_shipped = spec in shipped_specs()
    if is_shipped:
        path_of(spec).write_bytes(content)
    return Row(trained.shares, hashlib.sha256(content).hexdigest() if is_shipped else "")


def train_all(specs: list[Spec], n_processes: int) -> Iterator[tuple[Spec, Row]]:
    """Train networks in processes of their own; yields them in the order in which they are done."""
    with ProcessPoolExecutor(n_processes) as pool:
        running = {pool.submit(train, spec): spec for spec in specs}
        for done in as_completed(running):
            yield running[done], done.result()


def write_table(rows: dict[str, Row]) -> None:
    """Write the rows of measured networks, in the order of their specs, and delete files that no row names."""
    keys = [spec.key for spec in measured_specs()]
    kept = {key: asdict(rows[key]) for key in keys if key in rows}
    TABLE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for path in FOLDER.glob("*.safetensors"):
        if path.stem not in kept:
            path.unlink()


def main() -> None:
    """Train what is missing."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(prog="python -m playground.language.family", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="networks that train at once")
    options = parser.parse_args()
    rows = dict(table())
    missing = [spec for spec in measured_specs() if spec.key not in rows]
    logger.info("%s of %s networks are missing.", len(missing), len(measured_specs()))
    for n, (spec, row) in enumerate(train_all(missing, options.processes), 1):
        rows[spec.key] = row
        write_table(rows)
        logger.info("%s/%s  %s", n, len(missing), json.dumps(row.shares))


if __name__ == "__main__":
    main()
