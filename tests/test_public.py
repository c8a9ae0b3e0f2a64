"""The public names are sorted, importable and explained."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import playground
import playground.model

MODULES = (
    "playground",
    "playground.config",
    "playground.accounting",
    "playground.presets",
    "playground.model",
    *(f"playground.model.{module.name}" for module in pkgutil.iter_modules(playground.model.__path__)),
)


@pytest.mark.parametrize("package", [playground, playground.model], ids=lambda package: package.__name__)
def test_public_names_are_sorted_and_there(package: ModuleType) -> None:
    assert list(package.__all__) == sorted(set(package.__all__))
    for name in package.__all__:
        assert getattr(package, name).__name__ == name


def test_the_contract_is_exported() -> None:
    assert {"ConfigError", "Encoder", "ModelConfig", "Trace", "count_parameters"} <= set(playground.__all__)


def public_members(owner: ModuleType | type, module: str) -> Iterator[tuple[str, object]]:
    """Every public class, function, method and property that `module` itself defines, by dotted name."""
    for name, member in vars(owner).items():
        target = member.fget if isinstance(member, property) else member
        if name.startswith("_") or getattr(target, "__module__", None) != module:
            continue
        if inspect.isclass(target) or inspect.isfunction(target):
            yield f"{owner.__name__}.{name}", member
        if inspect.isclass(target):
            yield from public_members(target, module)


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_is_explained(module: str) -> None:
    imported = import_module(module)
    assert imported.__doc__
    unexplained = [name for name, member in public_members(imported, module) if not member.__doc__]
    assert unexplained == []


def test_every_field_of_a_config_is_explained_in_its_source() -> None:
    source = inspect.getsource(playground.ModelConfig)
    for field in playground.ModelConfig.__dataclass_fields__:
        declaration = source.index(f"\n    {field}: ")
        following = source[declaration:].splitlines()[2]
        assert following.strip().startswith('"""'), field
