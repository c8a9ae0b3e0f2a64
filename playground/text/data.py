"""Words in YAML, in a file beside the module that reads it."""

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast; not every PyYAML has it."""


def load_data(module: str) -> Any:
    """Return what the YAML file of a module holds, which lies beside it under the same name.

    Args:
        module: the module's `__file__`.
    """
    return yaml.load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"), _LOADER)  # noqa: S506  # it is safe
