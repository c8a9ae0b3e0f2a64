"""The command that trains the family: what is missing, its files, its table, and the table for the documents."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from playground.language import CAPABILITIES, family
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


def test_the_table_has_the_mean_of_the_seeds_or_their_range(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shares = dict.fromkeys(CAPABILITIES, 0.5)
    rows = [Row(shares | {"recall": recall, "far": 0.96 + recall / 50}, "") for recall in (0.5, 1.0, 0.75)]
    monkeypatch.setattr(family, "seeds_of", lambda spec: rows if spec == Spec() else [])
    monkeypatch.setattr("sys.argv", ["family", "--table"])
    command.main()
    lines = capsys.readouterr().out.splitlines()
    cells = dict(zip(lines[0].split(" | "), lines[2].split(" | "), strict=True))
    assert (cells["recall"], cells["far back"], lines[2].split()[1]) == ("50–100", "98", "base")
    assert "| `n_layers=1` |" in lines[3]
    assert {line.count("|") for line in lines if line} == {len(CAPABILITIES) + 2}
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| no biases", "| grouped queries"]
