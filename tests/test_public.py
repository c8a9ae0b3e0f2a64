"""The public names are sorted, importable and explained."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import playground
import playground.model

PACKAGES = ("accounting", "link", "model", "text", "training", "weights")
MODULES = (
    *("playground", "playground.config", "playground.presets"),
    *(f"playground.{package}" for package in PACKAGES),
    *(f"playground.model.{module.name}" for module in pkgutil.iter_modules(playground.model.__path__)),
)


def constants_classes_functions(name: str) -> tuple[bool, bool, str]:
    """The order of `__all__` that the linter asks for."""
    return not name.isupper(), name[0].islower(), name


@pytest.mark.parametrize("name", ["playground", *(f"playground.{package}" for package in PACKAGES)])
def test_public_names_are_sorted_there_and_hide_no_module(name: str) -> None:
    package = import_module(name)
    assert list(package.__all__) == sorted(set(package.__all__), key=constants_classes_functions)
    assert not [public for public in package.__all__ if inspect.ismodule(getattr(package, public))]
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__)


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
