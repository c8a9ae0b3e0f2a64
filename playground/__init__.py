"""A transformer encoder from scratch, with every intermediate handed over.

run = read("The keys near the old box are rusty.", weights="minilm", changes="3.1:zero")
run.pattern(3, 1)           what layer 3, head 1 attends to, as a DataFrame
run["layers.3.attn.q"]      any point of the pass: run.points names them, help(playground.Trace) says what they are
run.effect_of("heads")      how far the sentence moves without each head
run.patch("The key ...")    where the difference to another sentence sits
run.answer()                the words for a [MASK]; run.logit_lens() at every depth
run.link, run.show()        the same in the app, and its pages here

Also here: Reading, what `read` returns; Encoder, EncoderDecoder, ModelConfig, Trace, ConfigError; and modules, such as
pretrained, training, export, diagnosis. docs/package.md goes through all of it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from playground.accounting import count_parameters
from playground.config import ModelConfig as ModelConfig
from playground.errors import ConfigError as ConfigError
from playground.link import open_link
from playground.model import Encoder as Encoder
from playground.model import EncoderDecoder as EncoderDecoder
from playground.model import Trace as Trace
from playground.notebook import check_answer, heads, show
from playground.reading import Reading as Reading
from playground.reading import compare, diff, read

__all__ = ["check_answer", "compare", "count_parameters", "diff", "heads", "open_link", "read", "show"]
"""The functions, which `help` explains. It would print each class with all that it inherits of torch."""

__version__ = "0.1.0"
"""The version; packaging reads it here."""

if not TYPE_CHECKING:  # a type checker would take every name for one that is here

    def __getattr__(name: str) -> Any:
        """Import a module of the package when it is first asked for, such as `playground.export`."""
        if find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")
