"""The command: what it prints is what the package computes, and whatever is wrong is one sentence."""

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import count_parameters, open_link
from playground.accounting import LABELS
from playground.command_line import KEYS, main, read_options
from playground.link.params import SHARED
from playground.presets import PRESETS

SENTENCE = "the cat sat because it was tired"
SMALL = [SENTENCE, "--weights", "random", "--tokenizer", "word", "--layers", "2", "--heads", "4", "--d-model", "64"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints, which must succeed."""
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence of a command that must fail."""
    try:
        code: object = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    shown = capsys.readouterr()
    assert (code, shown.out) == (2, "")
    assert re.fullmatch(r"[A-Z“].*\.\n", shown.err), shown.err
    return shown.err


def link_of(output: str) -> str:
    """The link that the output ends with."""
    return output.splitlines()[-1]


# --- what is printed


def test_the_map_shows_the_runs_own_weights(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, *SMALL, "--head", "1.2", "--seed", "5", "--do", "1.2:cut_3_1,9.9:zero", "--norm", "batch")
    view = open_link(link_of(output))
    assert "what if: 1.2:cut_3_1\n" in output
    assert all(told in output for told in ("the model's layers are 0 to 1", "norm=“batch”", "layer is used instead"))
    assert (view.values["seed"], view.config.n_layers, view.config.n_heads, view.config.d_model) == (5, 2, 4, 64)
    assert (view.focus.layer, view.focus.head, view.text) == (1, 2, (SENTENCE,))
    pattern = view.run.pattern(1)[2]
    for query, token in enumerate(SENTENCE.split()):
        (row,) = re.findall(rf"^ *{query} {token}  +(.*)$", output, re.MULTILINE)
        assert row.split() == [str(round(100 * float(weight)) or ".") for weight in pattern[query]]
    count = count_parameters(view.config)
    for component, number in count.by(lambda term: term.component).items():
        assert re.search(rf"{LABELS[component]} +{number:,} ", output)
    assert f"{count.total:,}" in output


def test_a_printed_link_prints_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    first = printed(capsys, *SMALL, "--head", "1.3", "--causal", "--no-residual", "--norm-eps", "1e-8")
    assert printed(capsys, "--link", link_of(first)) == first
    changed = printed(capsys, "--link", link_of(first), "--layers", "3", "another text")
    assert (open_link(link_of(changed)).config.n_layers, open_link(link_of(changed)).text) == (3, ("another text",))


@pytest.mark.parametrize(("name", "is_run"), [("tutorial-b", True), ("gpt-3", False)])
def test_a_preset_is_counted_and_a_small_one_runs(name: str, is_run: bool, capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, "a b", "--preset", name, "--head", "99.99")
    view = open_link(link_of(output))
    config = PRESETS[name].config
    assert (view.config.n_layers, view.config.d_ff, view.weights) == (config.n_layers, config.d_ff, "random")
    assert ("Attention of layer 0, head 3" in output, "at most 125,000,000" in output) == (is_run, not is_run)


def test_json_has_the_runs_numbers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{SENTENCE}\n"))
    given = json.loads(printed(capsys, "-", *SMALL[1:], "--head", "1.2", "--json"))
    view = open_link(given["link"])
    assert (given["tokens"], view.text) == (SENTENCE.split(), (SENTENCE,))
    np.testing.assert_allclose(given["attention"]["pattern"], view.run.pattern(1)[2], rtol=1e-6)
    assert given["parameters"]["total"] == count_parameters(view.config).total


# --- options


def test_every_parameter_of_the_sidebar_is_an_option() -> None:
    for key in KEYS:
        value = SHARED[key].default
        option = f"--{key.replace('_', '-')}"
        on_off = option if value else f"--no{option[1:]}"
        arguments = [on_off] if SHARED[key].kind == "switch" else [option, str(value)]
        assert read_options(arguments).texts == {key: [str(value).lower() if isinstance(value, bool) else str(value)]}
    assert set(SHARED) - set(KEYS) == {"text", "untrained"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--weights", "mine"], "file"),
        (["--preset", "gpt-9"], "gpt-2"),
        (["--nonsense"], "--nonsense"),
        ([""], "empty"),
        (["--link", "nowhere"], "no link"),
        (["--link", "?weights=trained+here"], "trained"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in refused(capsys, *arguments)


PIECES = st.sampled_from(["--link", "--head", "--n-layers", "--preset", "a", "?", "-1"])


@given(arguments=st.lists(PIECES | st.text(max_size=8), max_size=4))
def test_junk_never_shows_a_traceback(arguments: list[str]) -> None:
    try:
        code: object = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    assert code in (0, 2)
