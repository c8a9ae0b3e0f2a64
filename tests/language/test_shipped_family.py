"""The shipped family: complete and small, its table says what its weights do, and no capability is spare."""

import pytest

from playground.language import CAPABILITIES
from playground.language.family import (
    FOLDER,
    SEEDS,
    is_shipped,
    load_shipped,
    measured_specs,
    path_of,
    seeds_of,
    shipped_specs,
    table,
)
from playground.language.learner import HELD_OUT_SENTENCES, measure
from playground.language.network import Spec

SHIPPED = [spec for spec in shipped_specs() if is_shipped(spec)]


def test_the_table_has_every_measured_network_and_every_shipped_one_has_a_file() -> None:
    assert list(table()) == [spec.key for spec in measured_specs()]
    assert tuple(spec for spec in measured_specs() if is_shipped(spec)) == shipped_specs()
    assert all(row.shares.keys() == CAPABILITIES.keys() for row in table().values())


def test_the_files_are_those_of_the_table_and_take_16_mb_at_most() -> None:
    files = set(FOLDER.glob("*.safetensors"))
    assert files == {path_of(spec) for spec in SHIPPED}
    assert sum(path.stat().st_size for path in files) <= 16_000_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", SHIPPED, ids=[spec.key[:8] for spec in SHIPPED])
def test_its_numbers_are_those_of_its_weights(spec: Spec) -> None:
    trained = load_shipped(spec)
    assert trained.spec == spec
    assert trained.shares == table()[spec.key].shares
    # Two sentences of 200 may be near ties that another machine rounds to the other side.
    assert measure(trained.network, spec) == pytest.approx(trained.shares, abs=2.01 / HELD_OUT_SENTENCES)


def test_the_base_has_every_capability_but_the_deepest_in_every_seed() -> None:
    rows = seeds_of(Spec())
    assert len(rows) == len(SEEDS)
    missed = [(name, share) for row in rows for name, share in row.shares.items() if share < 0.97]
    assert not [each for each in missed if each[0] != "biggest"]
