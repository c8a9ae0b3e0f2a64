"""What somebody meets who has only Python: modules on demand, versions, and a sentence for each slip."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

import playground
from playground import Encoder, ModelConfig, Trace, command_line
from playground.errors import InputError
from playground.runs.encoder_run import run
from playground.text import words

CONFIG = ModelConfig(vocab_size=3, d_model=8, n_heads=2, n_layers=2, d_ff=8)


@pytest.mark.long
def test_modules_are_there_when_they_are_asked_for_and_not_before() -> None:
    program = """
import sys, playground
names = ["playground.export", "playground.diagnosis"]
print([name in sys.modules for name in names])
print(playground.export.as_python.__name__, playground.diagnosis.diagnose.__name__)
print(playground.training.Trainer.__name__, playground.pretrained.load.__name__, hasattr(playground, "nonsense"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, names, more = done.stdout.splitlines()
    assert before == "[False, False]"
    assert (names, more) == ("as_python diagnose", "Trainer load False")


def test_the_version_has_one_source(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"playground {playground.__version__}\n")
    read = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in read["project"]
    assert read["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "playground.__version__"}


def test_a_mistyped_name_of_a_trace_gets_the_nearest() -> None:
    encoder, trace, batch = Encoder(CONFIG), Trace(), words(["a b c"]).encode_batch(["a b c"])
    encoder(batch.ids, batch.mask, trace)
    for arrays in (trace, run(encoder, batch).arrays):
        assert "layers.1.attn.patern" not in arrays
        assert arrays.get("layers.1.attn.patern") is None
        with pytest.raises(KeyError, match=r"^Nothing here .*the nearest are layers\.1\.attn\.pattern"):
            arrays["layers.1.attn.patern"]


@pytest.mark.parametrize("ids", [[[3]], [[-1]], [[0.5]], [[True]]])
def test_ids_outside_of_the_table_are_a_sentence(ids: list[list[float]]) -> None:
    with pytest.raises(InputError, match="ids"):
        Encoder(CONFIG)(torch.tensor(ids))


def test_every_field_of_a_config_is_explained_in_its_source() -> None:
    source = inspect.getsource(playground.ModelConfig)
    for field in playground.ModelConfig.__dataclass_fields__:
        declaration = source.index(f"\n    {field}: ")
        following = source[declaration:].splitlines()[2]
        assert following.strip().startswith('"""'), field
