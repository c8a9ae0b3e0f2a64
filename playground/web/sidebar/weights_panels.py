"""What the sidebar says of the chosen weights: the small English, a visitor's file, a network trained here."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.accounting import count_parameters
from playground.accounting.readable import duration
from playground.charts.names import escape_markdown, quote_token
from playground.errors import InputError
from playground.language.answers import nearest_sentences
from playground.language.network import Spec
from playground.language.text import join_words
from playground.link import params
from playground.link.lab import Lab
from playground.link.params import TRAINED
from playground.presets import PRESETS
from playground.text.own_tokens import MAX_VOCABULARY_BYTES, IdTokenizer, VocabularyTokenizer, read_vocabulary
from playground.text.wording import quote_text
from playground.training.recipe import BOS, EOS, SPECIALS
from playground.training.trained_network import TrainedNetwork, describe_origin
from playground.views.parts import name_spec
from playground.web.choices import open_page, widgets
from playground.web.choices.setup import current_setup, last_move
from playground.web.choices.shortcuts import back_to_minilm, use_example_text, use_sentence
from playground.web.session import own_models
from playground.web.session.caches import APP
from playground.web.session.experiments import LEARNING, join_learning, learning_seconds
from playground.web.session.own_models import UploadedWeights, session_experiments, session_models
from playground.web.session.services import services
from playground.web.shared import saving
from playground.web.shared.experiment_buttons import pending_sentence
from playground.web.shared.navigation import page_named
from playground.web.shared.panels import fragment
from playground.words import say

# --- the small English

STAYS, LEAVES = 1.5, 30.0
"""Seconds after a move: from when the visitor stays there, and from when a training no longer begins by itself."""


def draw_move(setup: Lab) -> None:
    """Draw the shown encoder's parameters beside the base's, or which one is shown instead."""
    spec = params.spec_of(setup.values)
    if setup.state.chosen is not None:
        st.caption(say("sidebar", "nearest", name=name_spec(spec)))
    elif not setup["untrained"]:
        n, base = (f"{count_parameters(each.config).total:,}" for each in (spec, Spec()))
        with st.container(key="move_cost"):
            st.markdown(f"{n} parameters" if n == base else f"**{n}** parameters (base: {base})")


def draw_english(setup: Lab) -> None:
    """Draw before and after training, and the way back to MiniLM."""
    running = session_experiments().get(LEARNING)
    if running is not None and running.active and running.inputs != params.spec_of(setup.state.asked):
        session_experiments().discard(LEARNING)
    if setup.state.chosen is not None:
        _draw_missing(setup)
    if setup.text.sentences:
        _draw_unknown(setup)
    widgets.switch("untrained")
    st.button("Back to MiniLM", key="back_to_minilm", icon=":material/undo:", on_click=back_to_minilm)


def _draw_unknown(setup: Lab) -> None:
    i, batch = setup.sentence, setup.batch
    text, n = batch.sentences[i], sum(batch.unknown[i])
    if not n:
        return
    new = [text[start:end] for (start, end), is_new in zip(batch.offsets[i], batch.unknown[i], strict=True) if is_new]
    words = escape_markdown(", ".join(dict.fromkeys(new)))
    st.caption(say("sidebar", "new-words", n=str(n), tokens=str(len(batch.tokens[i])), words=words))
    for number, example in enumerate(nearest_sentences(text)):
        known, place = join_words(example.words), example.place + 1
        st.button(known, key=f"known_sentence_{number}", on_click=use_sentence, args=(known, place), type="tertiary")


def _draw_missing(setup: Lab) -> None:
    seconds = learning_seconds(params.spec_of(setup.state.asked))
    longest = 2 * services().settings.max_training_seconds
    if seconds > longest:
        st.caption(say("sidebar", "too-long", time=duration(seconds), most=duration(longest)))
        return
    running = session_experiments().get(LEARNING)
    changes = last_move()[1] < LEAVES if running is None else not running.ended
    fragment(follow_learning, run_every=1.0 if changes else None)()


def follow_learning() -> None:
    """Start the training once the visitor stays, draw its progress, and show the encoder at its end."""
    setup, experiments = current_setup(), session_experiments()
    spec = params.spec_of(setup.state.asked)
    if setup.state.chosen is None or APP.find_english(spec) is not None:
        st.rerun()
    running = experiments.get(LEARNING)
    if running is not None and running.inputs != spec:
        running = None
    if running is None and experiments.active_page() is None and STAYS < last_move()[1] < LEAVES:
        experiments.start(LEARNING, partial(join_learning, spec))
    elif running is not None and running.active:
        progress = running.progress
        st.progress(progress, pending_sentence(running) or f"Training: {progress:.0%}")
        st.button("Stop", key="stop_english", on_click=running.stop, icon=":material/stop:")
    else:
        if running is not None:
            st.caption(running.error or "Stopped.")
        label, is_busy = say("sidebar", "train", time=duration(learning_seconds(spec))), experiments.active_page()
        icon = ":material/play_arrow:"
        st.button(label, key="train_english", on_click=_start, args=(spec,), disabled=bool(is_busy), icon=icon)


def _start(spec: Spec) -> None:
    session_experiments().discard(LEARNING)
    session_experiments().start(LEARNING, partial(join_learning, spec))


# --- a network that was trained in this session

EXAMPLE = "trained_example"
"""Key of the button that sets an example of the task as text."""


def draw_trained(setup: Lab) -> None:
    """Draw the network's results and unknown tokens, or a link to Training."""
    trained = own_models.shown_network(setup["run"])
    if trained is None:
        st.caption(say("sidebar", "not-trained"))
        if not open_page.is_training_page():
            st.page_link(page_named("training"), label="Train a network", icon=":material/model_training:")
        return
    results = trained.results
    told = {"right": results.validation_accuracy, "rule": results.baseline, "step": f"{results.kept_step:,}"}
    origin = describe_origin(trained, setup["run"])
    st.caption(say("sidebar", "trained", task=trained.task.title, origin=origin, **told))
    if trained.has_initial:
        widgets.switch("untrained")
    if not setup.text.sentences:
        return
    unknown = setup.batch.unknown[setup.sentence]
    if any(unknown):
        knows = _list_known(trained)
        st.caption(say("sidebar", "unknown", n=str(sum(unknown)), tokens=str(len(unknown)), knows=knows))
    if setup["text"] != trained.example:
        label, icon = say("sidebar", "example"), ":material/edit_note:"
        st.button(label, key=EXAMPLE, icon=icon, on_click=use_example_text, width="stretch")


def _list_known(trained: TrainedNetwork) -> str:
    tokens = map(trained.tokenizer.id_to_token, range(len(SPECIALS), trained.tokenizer.vocab_size))
    symbols = [token for token in tokens if token not in {BOS, EOS}]
    return f"{len(symbols)} characters" if len(symbols) > 30 else " ".join(map(quote_token, symbols))


# --- a visitor's own file

UPLOADER, VOCABULARY_UPLOADER = "own_file", "own_vocabulary"
CLOSE, READING, HUB = "own_close", "own_reading", "own_hub_model"
"""Keys of widgets; a link can't carry a file, so they are no parameters."""

HOW_TO_SAVE = """from safetensors.torch import save_model

save_model(model, "model.safetensors")"""


def draw_upload(setup: Lab) -> None:
    """Draw the uploader, what the file is, and how text becomes its ids."""
    models = services().settings.hub_models
    if models:
        words: Any = {"placeholder": say("sidebar", "hub.placeholder"), "help": say("sidebar", "hub.help")}
        st.selectbox(say("sidebar", "hub"), models, index=None, key=HUB, on_change=_open_hub_model, **words)
        saving.draw_problem(HUB)
    label, help_text = say("sidebar", "upload"), say("sidebar", "upload.help")
    saving.draw_uploader(label, UPLOADER, _open_upload, accept_multiple_files=True, help=help_text)
    upload = session_models().upload
    if upload is None:
        st.caption(say("sidebar", "no-upload"))
        st.code(HOW_TO_SAVE, language="python", wrap_lines=True)
        return
    st.caption(" ".join(_describe(upload, setup)))
    _draw_reading(upload)
    st.button(say("sidebar", "close"), key=CLOSE, icon=":material/close:", on_click=close, width="stretch")


def close() -> None:
    """Forget the upload and everything computed with it."""
    problems = map(saving.problem_key, (UPLOADER, VOCABULARY_UPLOADER, HUB))
    for key in (READING, *problems):
        st.session_state.pop(key, None)
    session_models().close_upload()


def _describe(upload: UploadedWeights, setup: Lab) -> Iterator[str]:
    scheme, settled = upload.recognised.scheme, upload.recognised.settings
    title = PRESETS[scheme].title if scheme in PRESETS else scheme
    n = sum(tensor.numel() for tensor in upload.tensors.values())
    file, tensors = quote_text(upload.file), str(len(upload.tensors))
    yield say("sidebar", "file", file=file, title=title, tensors=tensors, n=f"{n:,}")
    if upload.recognised.open_settings:
        yield say("sidebar", "file-open", settings=", ".join(upload.recognised.open_settings))
    if not settled["vocab_size"]:
        yield say("sidebar", "file-vectors", seed=str(setup["seed"]))


def _draw_reading(upload: UploadedWeights) -> None:
    tokenizer, rows = upload.tokenizer, upload.token_rows
    if not rows or not isinstance(tokenizer, VocabularyTokenizer | IdTokenizer | None):
        return
    is_typed, has_words = isinstance(tokenizer, IdTokenizer), isinstance(tokenizer, VocabularyTokenizer)
    now = "ids" if is_typed else "vocabulary" if has_words else "tokenizer"
    st.session_state.setdefault(READING, now)  # the widget is forgotten while it is not drawn
    options: Any = {"format_func": lambda each: say("sidebar", f"reading-{each}"), "on_change": _change_reading}
    reading = st.selectbox(say("sidebar", "reading"), ["tokenizer", "vocabulary", "ids"], key=READING, **options)
    if reading == "ids":
        st.caption(say("sidebar", "read-ids", last=f"{rows - 1:,}"))
    if reading != "vocabulary":
        return
    options = {"max_upload_size": MAX_VOCABULARY_BYTES // 2**20, "help": say("sidebar", "vocabulary.help")}
    saving.draw_uploader(say("sidebar", "vocabulary"), VOCABULARY_UPLOADER, _open_vocabulary, **options)
    if isinstance(tokenizer, VocabularyTokenizer):
        told = {"file": quote_text(upload.tokenizer_file), "words": f"{len(tokenizer.ids):,}", "rows": f"{rows:,}"}
        st.caption(say("sidebar", "vocabulary.told", **told))


def _change_reading() -> None:
    upload = session_models().upload
    if upload is not None:
        upload.read_with(IdTokenizer(upload.token_rows) if st.session_state[READING] == "ids" else None)


def _open_vocabulary(file: UploadedFile) -> None:
    upload = session_models().upload
    if upload is not None:
        upload.read_with(VocabularyTokenizer(read_vocabulary(file.getvalue(), upload.token_rows)), file.name)


def _open_upload(*chosen: UploadedFile) -> None:
    files = {file.name: file.getvalue() for file in chosen}
    weights = {name: data for name, data in files.items() if name.endswith(".safetensors")}
    weights = weights or {name: data for name, data in files.items() if not name.endswith((".json", ".txt", ".md"))}
    if not weights:
        raise InputError(say("sidebar", "no-weights"))
    config, tokenizer = files.get("config.json"), files.get("tokenizer.json")
    with services().turns.take():
        _show(own_models.read_upload(next(iter(weights)), list(weights.values()), config, tokenizer))


def _open_hub_model() -> None:
    name = st.session_state[HUB]
    st.session_state[HUB] = None  # a shortcut, not a choice that lasts
    if name is not None:
        problem = saving.problem_key(HUB)
        with saving.explain_failure(problem, quote_text(name)), services().turns.hold_long_place():
            _show(own_models.read_hub_model(name))


def _show(upload: UploadedWeights) -> None:
    close()
    session_models().upload = upload
    st.session_state.update(upload.recognised.open_settings)
    if upload.tokenizer is None and 0 < upload.token_rows < TRAINED.vocab_size:
        st.session_state["tokenizer"] = "word"
