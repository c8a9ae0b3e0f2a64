"""One Python file of sections: its docstring, the imports that it needs, and each section under its title."""

import re
from collections.abc import Sequence
from itertools import pairwise

from playground.export.code.section import Section

_STANDARD = {
    "import copy": r"\bcopy\.",
    "import hashlib": r"\bhashlib\.",
    "import importlib.util": r"\bimportlib\.util\.",
    "import math": r"\bmath\.",
    "import re": r"\bre\.",
    "from functools import partial": r"\bpartial\(",
    "from pathlib import Path": r"\bPath\(",
}
_INSTALLED = {
    "import numpy as np": r"\bnp\.",
    "import torch": r"\btorch\.",
    "import torch.nn.functional as F": r"\bF\.",
    "from safetensors.torch import load": r"[^.\w]load\(",
    "from tokenizers import Tokenizer": r"\bTokenizer\.",
}
"""Import → pattern of the code that needs it, in the order in which they are written."""

_NAMES_OF_TORCH = {"Tensor": r"\bTensor\b", "nn": r"\bnn\."}


_DOCSTRING = '''"""{first_line}

Written by the Transformer Encoder Playground for what was on the screen. It needs: {packages}.
Running it proves it: it ends by comparing its numbers with those on the page.
Legend: B sentences, T tokens, Tq/Tk queries/keys, H heads; shapes stand at the end of a line.
"""'''


def join_sections(first_line: str, sections: Sequence[Section]) -> str:
    """A file that runs on its own: a docstring, imports, and the sections' code, each under a comment line."""
    imports = write_imports(sections)
    packages = ", ".join(required_packages(sections))
    docstring = _DOCSTRING.format(first_line=first_line, packages=packages)
    parts = [docstring, imports, *(_under_title(section) for section in sections)]
    text = parts[0]
    for before, part in pairwise(parts):
        text += _gap(before, part) + part
    return f"{text}\n"


def required_packages(sections: Sequence[Section]) -> list[str]:
    """What has to be installed for the sections' code, as package registries call it."""
    imports = write_imports(sections)
    return [
        name for name in ("torch", "numpy", "safetensors", "tokenizers") if re.search(rf"(import|from) {name}", imports)
    ]


def write_imports(sections: Sequence[Section]) -> str:
    """The import lines that the sections' code needs, as isort orders them."""
    code = "\n".join(section.code for section in sections)
    names = [name for name, pattern in _NAMES_OF_TORCH.items() if re.search(pattern, code)]
    standard = [line for line, pattern in _STANDARD.items() if re.search(pattern, code)]
    installed = [line for line, pattern in _INSTALLED.items() if re.search(pattern, code)]
    if names:
        installed.append(f"from torch import {', '.join(names)}")
    return "\n\n".join("\n".join(group) for group in (standard, installed) if group)


def _under_title(section: Section) -> str:
    return f"# {section.title}\n{section.code}"


def _gap(before: str, part: str) -> str:
    """Blank lines between two parts: two around definitions, else one."""
    defines = re.compile(r"^(class|def|@)", re.MULTILINE)
    after_definition = before.splitlines()[-1].startswith((" ", ")"))
    begins_definition = bool(defines.match(part.split("\n", 1)[-1]))
    return "\n\n\n" if begins_definition or (after_definition and defines.search(before)) else "\n\n"
