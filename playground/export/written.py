"""What is taken along: sections of explanation and code, as one Python file or a notebook, with weights."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import nbformat
import safetensors.torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from torch import Tensor, nn

from playground.errors import TooLargeError
from playground.weights.checkpoint import MINILM_PACKAGE, MINILM_REQUIREMENT

SEPARATOR = "\n%%\n"
"""Between a section's explanation and its code."""


@dataclass(frozen=True)
class Section:
    """One concept, of the template `name`."""

    name: str
    title: str
    explanation: str
    """In Markdown."""
    code: str
    """Formatted Python without imports."""


FILE_NAME = "weights.safetensors"

MAX_BYTES = 64 * 2**20
"""16 M parameters."""


def weights_values(data: bytes) -> Mapping[str, str]:
    """Return what templates read of a file of weights."""
    return {"weights_file": FILE_NAME, "sha256": hashlib.sha256(data).hexdigest()}


def save_weights(model: nn.Module) -> bytes:
    """Return a model's parameters as a safetensors file; raises TooLargeError above `MAX_BYTES`."""
    tensors: dict[str, Tensor] = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
    n_bytes = sum(tensor.nbytes for tensor in tensors.values())
    if n_bytes > MAX_BYTES:
        raise TooLargeError(f"These weights take {n_bytes / 2**20:,.0f} MB; a file may take {MAX_BYTES // 2**20} MB.")
    return safetensors.torch.save(tensors)


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
_PLAYGROUND = {
    "from playground import EncoderDecoder, ModelConfig, Trace": r"\bEncoderDecoder\(config",
    "from playground import ModelConfig": r"\bTrainer\(config",
    "from playground.training import Recipe, Trainer": r"\bTrainer\(config",
}
"""Import → pattern of the code that needs it."""

_NAMES_OF_TORCH = {"Tensor": r"\bTensor\b", "nn": r"\bnn\."}


_DOCSTRING = '''"""{first_line}

Written by the Transformer Encoder Playground for what was on the screen. It needs: {packages}.
Running it proves it: it ends by comparing its numbers with those on the page.
Legend: B sentences, T tokens, Tq/Tk queries/keys, H heads; shapes stand at the end of a line.
"""'''


def required_packages(sections: Sequence[Section]) -> list[str]:
    """Return the packages that the sections' code needs."""
    imports = write_imports(sections)
    known = ("torch", "numpy", "playground", "safetensors", "tokenizers")
    return [name for name in known if re.search(rf"(import|from) {name}", imports)]


def write_imports(sections: Sequence[Section]) -> str:
    """Return the import lines that the sections' code needs, as isort orders them."""
    code = "\n".join(section.code for section in sections)
    names = [name for name, pattern in _NAMES_OF_TORCH.items() if re.search(pattern, code)]
    standard, installed, own = (
        [line for line, pattern in table.items() if re.search(pattern, code)]
        for table in (_STANDARD, _INSTALLED, _PLAYGROUND)
    )
    if names:
        installed.append(f"from torch import {', '.join(names)}")
    return "\n\n".join("\n".join(group) for group in (standard, installed, own) if group)


def _gap(before: str, part: str) -> str:
    """Return the line ends between two parts: two blank lines around definitions, else one."""
    defines = re.compile(r"^(class|def|@)", re.MULTILINE)
    after_definition = before.splitlines()[-1].startswith((" ", ")"))
    begins_definition = bool(defines.match(part.split("\n", 1)[-1]))
    return "\n\n\n" if begins_definition or (after_definition and defines.search(before)) else "\n\n"


_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

_INTRODUCTION = """# {first_line}

The Transformer Encoder Playground wrote this notebook for what was on the screen: this one configuration, this
sentence, these numbers. Run the cells from top to bottom. After the last section the numbers are compared with those
on the page.

Shapes stand at the end of a line. B is the number of sentences, T of tokens, H of heads."""

_INSTALL = """# Installs what is missing. Where everything is there, as torch is in Colab, it does nothing.
import importlib.util
import subprocess
import sys

requirements = {requirements}
for module, requirement in requirements.items():
    if importlib.util.find_spec(module) is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *requirement.split()], check=True)"""


def _install_cell(sections: Sequence[Section]) -> str:
    requirements = {name: name for name in required_packages(sections)}
    if any(section.name == "trained_files" for section in sections):
        requirements[MINILM_PACKAGE] = f"--no-deps {MINILM_REQUIREMENT}"
    if "playground" in requirements:
        requirements["playground"] = "."  # the folder of its code, in which the notebook then lies
    entries = "".join(f'    "{module}": "{requirement}",\n' for module, requirement in requirements.items())
    return _INSTALL.format(requirements=f"{{\n{entries}}}")


@dataclass(frozen=True)
class Export:
    """Sections in the order in which their code runs."""

    name: str
    """Of the files; never a visitor's text."""
    first_line: str
    """At most 110 characters."""
    sections: list[Section]
    appendix: list[Section] = field(default_factory=list)
    """Behind the sections of a notebook."""
    weights: bytes | None = None
    """The file that the code reads."""

    @property
    def needs_playground(self) -> bool:
        """Whether the code imports the playground's package."""
        return "playground" in required_packages(self.sections)

    def python(self) -> str:
        """Return a file that runs on its own: a docstring, imports, and the sections' code."""
        docstring = _DOCSTRING.format(first_line=self.first_line, packages=", ".join(required_packages(self.sections)))
        parts = [docstring, write_imports(self.sections), *(f"# {each.title}\n{each.code}" for each in self.sections)]
        return parts[0] + "".join(_gap(before, part) + part for before, part in pairwise(parts)) + "\n"

    def notebook(self) -> str:
        """Return an `.ipynb` file: a cell that installs what is missing, the imports, then section by section."""
        sections = [*self.sections, *self.appendix]
        cells = [
            new_markdown_cell(_INTRODUCTION.format(first_line=self.first_line)),
            new_code_cell(_install_cell(sections)),
            new_code_cell(write_imports(sections)),
        ]
        for section in sections:
            cells.append(new_markdown_cell(f"## {section.title}\n\n{section.explanation}"))
            cells.append(new_code_cell(section.code))
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"  # nbformat draws ids; the same setup gives the same file
        notebook = new_notebook(cells=cells, metadata=_METADATA)
        nbformat.validate(notebook)
        return str(nbformat.writes(notebook))
