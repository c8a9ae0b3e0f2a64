"""The command that trains the family: what is missing, its files, its table, and the table for the documents."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from playground.language import family
from playground.language.family import Row
from playground.language.family import __main__ as command
from playground.language.network import BASE, EnglishNetwork, Spec, load

SMALL = Spec(replace(BASE, d_model=8, n_heads=2, d_ff=16, n_layers=1))
OTHER = replace(SMALL, seed=1)


def untrained(spec: Spec) -> EnglishNetwork:
    return EnglishNetwork(spec, spec.build().half().float().requires_grad_(False), {"recall": 0.5})


def test_it_trains_what_is_missing_and_ships_the_first_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def train(specs: list[Spec], n_processes: int) -> Iterator[EnglishNetwork]:
        asked.append((specs, n_processes))
        yield from (pickle.loads(pickle.dumps(untrained(spec))) for spec in specs)  # as from a process

    monkeypatch.setattr(family, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "TABLE", tmp_path / "table.json")
    monkeypatch.setattr(command, "table", lambda: {Spec().key: Row({"recall": 1}, "")})
    monkeypatch.setattr(command, "measured_specs", lambda: (Spec(), SMALL, OTHER))
    monkeypatch.setattr(command, "shipped_specs", lambda: (SMALL,))
    monkeypatch.setattr(command, "train_in_processes", train)
    monkeypatch.setattr("sys.argv", ["family", "--processes", "3"])
    (tmp_path / "old.safetensors").write_bytes(b"")
    command.main()
    assert asked == [([SMALL, OTHER], 3)]
    rows = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert list(rows) == [Spec().key, SMALL.key, OTHER.key]
    assert (rows[OTHER.key]["sha256"], len(rows[SMALL.key]["sha256"])) == ("", 64)
    assert [path.name for path in tmp_path.glob("*.safetensors")] == [f"{SMALL.key}.safetensors"]
    assert load(family.path_of(SMALL).read_bytes(), SMALL).shares == {"recall": 0.5}
