"""Configs that differ in one field."""

from dataclasses import replace
from typing import Any

from playground.config import CHOICES, ModelConfig


def change_field(config: ModelConfig, name: str) -> ModelConfig:
    """The config with another value of this field."""
    value = getattr(config, name)
    if name in CHOICES:
        other: Any = next(choice for choice in CHOICES[name] if choice != value)
    else:
        other = not value if isinstance(value, bool) else 2 * value or 2
    return replace(config, **{name: other})
