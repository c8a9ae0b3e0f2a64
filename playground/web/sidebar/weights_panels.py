"""What the sidebar says of the chosen weights: the small English, a visitor's file, a network trained here."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.accounting import count_parameters
from playground.accounting.readable import duration
from playground.charts.names import escape_markdown, quote_token
from playground.errors import InputError, PlaygroundError
from playground.language.answers import nearest_sentences
from playground.language.capabilities import CAPABILITIES
from playground.language.family import shares_of
from playground.language.network import Spec
from playground.language.text import IDS, join_words
from playground.link import params
from playground.link.lab import Lab
from playground.link.params import TRAINED
from playground.presets import PRESETS
from playground.text.own_tokens import MAX_VOCABULARY_BYTES, IdTokenizer, VocabularyTokenizer, read_vocabulary
from playground.text.wording import quote_text
from playground.training.recipe import BOS, EOS, SPECIALS
from playground.training.trained_network import TrainedNetwork, describe_origin
from playground.views.parts import LEAST_CHANGE, name_spec
from playground.web.choices import open_page, widgets
from playground.web.choices.setup import current_setup, lab_of, last_move
from playground.web.choices.shortcuts import (
    back_to_minilm,
    use_example_text,
    use_sentence,
)
from playground.web.session import own_models
from playground.web.session.caches import APP, fill_in, hidden_word
from playground.web.session.experiments import LEARNING, join_learning, learning_seconds, session_experiments
from playground.web.session.own_models import UploadedWeights, session_models
from playground.web.session.services import services
from playground.web.shared import saving
from playground.web.shared.experiment_buttons import pending_sentence
from playground.web.shared.navigation import page_named, request_page
from playground.web.shared.page_end import fragment
from playground.web.shared.panels import start_comparison
from playground.words import say

# --- the small English

STAYS, LEAVES = 1.5, 30.0
"""Seconds after a move: from when the visitor stays there, and from when a training no longer begins by itself."""


def draw_move(setup: Lab) -> None:
    """Draw what the shown encoder costs beside the base, and the answer before and after the last move."""
    spec = params.spec_of(setup.values)
    if setup.state.chosen is not None:
        st.caption(say("sidebar", "nearest", name=name_spec(spec)))
    elif not setup["untrained"]:
        n, base = (f"{count_parameters(each.config).total:,}" for each in (spec, Spec()))
        costs = f"{n} parameters" if n == base else f"**{n}** parameters (base: {base})"
        lines = (_describe_answer(setup), " · ".join(_describe_capabilities(spec)), costs)
        with st.container(key="move_cost"):
            st.markdown("  \n".join(filter(None, lines)))


def _describe_answer(setup: Lab) -> str:
    try:
        hidden = hidden_word(setup) if setup.text.sentences else None
        if hidden is None or not hidden[1]:
            return ""
        word = hidden[1]
        now, before = float(fill_in(setup)[-1, IDS[word]]), ""
        moment = last_move()[0]
        moved = None if moment is None else lab_of(moment.values)
        if moved is not None and moved.state.is_english and moved.text_key == setup.text_key:
            before = f"{float(fill_in(moved)[-1, IDS[word]]):.2f} → "
    except PlaygroundError:  # the page says why there is no run
        return ""
    return f"*{escape_markdown(word)}*: {before}**{now:.2f}**"


def _describe_capabilities(spec: Spec) -> Iterator[str]:
    """The two capabilities furthest from the base, with the range of the seeds."""
    shares, base = _shares(spec), _shares(Spec())
    if not shares or not base:
        return
    moved = {name: fmean(shares[name]) - fmean(base[name]) for name in CAPABILITIES}
    for name in sorted(moved, key=lambda name: -abs(moved[name]))[:2]:
        if abs(moved[name]) > LEAST_CHANGE:
            seeds = f" ({min(shares[name]):.2f}–{max(shares[name]):.2f})" if len(shares[name]) > 1 else ""
            yield f"*{CAPABILITIES[name].title}* {fmean(base[name]):.2f} → **{fmean(shares[name]):.2f}**{seeds}"


def _shares(spec: Spec) -> Mapping[str, Sequence[float]]:
    """The shares right of every seed that was measured, or of the one network that there is."""
    measured = shares_of(spec)
    found = None if measured else APP.find_english(spec)
    return {name: [share] for name, share in found.shares.items()} if found else measured


def draw_english(setup: Lab) -> None:
    """Draw before and after training, and the way back to MiniLM; a move ends another's training."""
    running = session_experiments().get(LEARNING)
    if running is not None and running.active and running.inputs != params.spec_of(setup.state.asked):
        session_experiments().discard(LEARNING)
    if setup.state.chosen is not None:
        _draw_missing(setup)
    if setup.text.sentences:
        _draw_unknown(setup)
    widgets.switch("untrained")
    with st.container(horizontal=True, gap="small"):
        st.button("Back to MiniLM", key="back_to_minilm", icon=":material/undo:", on_click=back_to_minilm)
        label, compare = say("sidebar", "compare"), partial(_compare_training, setup)
        st.button(label, key="compare_training", on_click=compare, type="tertiary", help=say("sidebar", "compare.help"))


def _compare_training(setup: Lab) -> None:
    start_comparison({**setup.values, "untrained": True}, {**setup.values, "untrained": False})
    request_page("compare")


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
    """What becomes of an encoder that nobody has trained: it is trained if its visitor has moved there."""
    seconds = learning_seconds(params.spec_of(setup.state.asked))
    longest = 2 * services().settings.max_training_seconds
    if seconds > longest:
        st.caption(say("sidebar", "too-long", time=duration(seconds), most=duration(longest)))
        return
    running = session_experiments().get(LEARNING)
    changes = last_move()[1] < LEAVES if running is None else not running.ended
    fragment(follow_learning, run_every=1.0 if changes else None)()


def follow_learning() -> None:
    """Start the training once the visitor stays, draw how far it is, and show the encoder at its end."""
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

_LISTED = 30
"""Tokens of a vocabulary that are listed; a longer one is counted."""


def draw_trained(setup: Lab) -> None:
    """Draw the network's results and unknown tokens, or a link to the page Training."""
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
    return f"{len(symbols)} characters" if len(symbols) > _LISTED else " ".join(map(quote_token, symbols))


# --- a visitor's own file

UPLOADER, VOCABULARY_UPLOADER = "own_file", "own_vocabulary"
CLOSE, READING = "own_close", "own_reading"
"""Keys of widgets; a link can't carry a file, so they are no parameters."""

HOW_TO_SAVE = """from safetensors.torch import save_model

save_model(model, "model.safetensors")"""


def draw_upload(setup: Lab) -> None:
    """Draw the uploader of weights, what the file is, and how text becomes its ids."""
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
    problems = map(saving.problem_key, (UPLOADER, VOCABULARY_UPLOADER))
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
    if upload.not_finite:
        yield say("sidebar", "file-not-finite", name=upload.not_finite)


def _draw_reading(upload: UploadedWeights) -> None:
    """The choice of how text becomes ids, unless the file says it or has no token table."""
    tokenizer, rows = upload.tokenizer, upload.token_rows
    if not isinstance(tokenizer, VocabularyTokenizer | IdTokenizer | None):
        st.caption(say("sidebar", "own-tokenizer", tokens=f"{tokenizer.vocab_size:,}"))
        return
    if not rows:
        return
    is_typed, has_words = isinstance(tokenizer, IdTokenizer), isinstance(tokenizer, VocabularyTokenizer)
    # The widget is forgotten while it is not drawn.
    st.session_state.setdefault(READING, "ids" if is_typed else "vocabulary" if has_words else "tokenizer")
    options: Any = {"format_func": lambda each: say("sidebar", f"reading-{each}"), "on_change": _change_reading}
    reading = st.selectbox(say("sidebar", "reading"), ["tokenizer", "vocabulary", "ids"], key=READING, **options)
    if reading != "vocabulary":
        st.caption(say("sidebar", f"read-{reading}", last=f"{rows - 1:,}"))
        return
    options = {"max_upload_size": MAX_VOCABULARY_BYTES // 2**20, "help": say("sidebar", "vocabulary.help")}
    saving.draw_uploader(say("sidebar", "vocabulary"), VOCABULARY_UPLOADER, _open_vocabulary, **options)
    if isinstance(tokenizer, VocabularyTokenizer):
        words = f"{len(tokenizer.ids):,}"
        st.caption(
            say("sidebar", "vocabulary.told", file=quote_text(upload.tokenizer_file), words=words, rows=f"{rows:,}")
        )


def _change_reading() -> None:
    upload = session_models().upload
    if upload is not None:
        upload.read_with(IdTokenizer(upload.token_rows) if st.session_state[READING] == "ids" else None)


def _open_vocabulary(file: UploadedFile) -> None:
    upload = session_models().upload
    if upload is not None:
        upload.read_with(VocabularyTokenizer(read_vocabulary(file.getvalue(), upload.token_rows)), file.name)


def _open_upload(*chosen: UploadedFile) -> None:
    """Keep the file in place of the one before, and set what it does not say to what is likely."""
    files = {file.name: file.getvalue() for file in chosen}
    weights = {name: data for name, data in files.items() if name.endswith(".safetensors")}
    weights = weights or {name: data for name, data in files.items() if not name.endswith((".json", ".txt", ".md"))}
    if not weights:
        raise InputError(say("sidebar", "no-weights"))
    config, tokenizer = files.get("config.json"), files.get("tokenizer.json")
    with services().turns.take():
        upload = own_models.read_upload(next(iter(weights)), list(weights.values()), config, tokenizer)
    close()
    session_models().upload = upload
    st.session_state.update(upload.recognised.open_settings)
    if upload.tokenizer is None and 0 < upload.token_rows < TRAINED.vocab_size:
        st.session_state["tokenizer"] = "word"
