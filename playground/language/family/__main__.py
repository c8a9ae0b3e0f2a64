"""Train what is missing of the family and write its table."""

import argparse
import hashlib
import json
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

import torch

from playground.language.family import FOLDER, TABLE, Row, measured_specs, path_of, shipped_specs, table
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


def main() -> None:
    """Train what is missing."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    parser = argparse.ArgumentParser(prog="python -m playground.language.family", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="networks that train at once")
    options = parser.parse_args()
    rows = dict(table())
    missing = [spec for spec in measured_specs() if spec.key not in rows]
    logger.info("%s of %s networks are missing.", len(missing), len(measured_specs()))
    for trained in train_in_processes(missing, options.processes):
        rows[trained.spec.key] = keep(trained)
        write_table(rows)
        logger.info(json.dumps(trained.shares))


if __name__ == "__main__":
    main()
