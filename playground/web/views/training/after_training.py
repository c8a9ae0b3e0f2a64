"""The trained network on the Training page: sample answers, generated text, links to other pages, files."""

import pandas as pd
import streamlit as st

from playground.training.after.answers import Sample, answer_samples
from playground.training.after.trained_network import TrainedNetwork, load, save
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_value
from playground.web.session import trained_slot
from playground.web.session.downloads import in_turn
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session
from playground.web.shared import panels, uploads
from playground.web.shared.navigation import page_named
from playground.web.views.training import text_generation

UPLOADER = "training_file"
"""Name of the uploader."""

PROBLEM = "_training_problem"
"""Session key of the sentence that says why the last file was not opened."""


def after_training() -> None:
    """Draw the session's trained network, if there is one, and an uploader that brings one back."""
    slot = trained_slot.session_slot()
    trained = slot.trained
    if slot.problem:
        st.warning(f"What was trained last is not kept. {slot.problem}")
    results = st.container()
    if trained is not None:
        with st.container(horizontal=True):
            st.button(
                "Look into it on every page",
                key="training_look",
                icon=":material/visibility:",
                on_click=shortcuts.choose_trained_network,
                help="Every page then runs these weights; if they know nothing of your text, it becomes an example of "
                "the task. The sidebar has a switch to the same network before training.",
            )
            st.download_button(
                "Download (safetensors)",
                in_turn(lambda: save(trained)),
                file_name=f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors",
                mime="application/octet-stream",
                key="training_download",
                icon=":material/download:",
                on_click="ignore",
            )
        st.caption(
            "A reload of this tab brings the network back for an hour, while the server has room. A file keeps it."
        )
        if current_value("weights") == "trained here":
            listed = ["attention", "what-if", "norms", "parameters", "step-by-step", "positions"]
            if trained.task.has_decoder:
                listed.append("encoder-decoder")
            with st.container(horizontal=True):
                for page in map(page_named, listed):
                    st.page_link(page, label=page.title, icon=":material/arrow_forward:")
    _upload()
    if trained is not None:
        with results:  # last, as it may end the page
            _show_results(trained)


def _upload() -> None:
    with st.expander("Open a network that was trained and downloaded here before", icon=":material/upload:"):
        st.file_uploader(
            "A file from the download button",
            key=uploads.uploader_key(UPLOADER),
            on_change=_open_file,
            help="It stays with this tab of your browser, is shown to nobody else, and gone an hour after you leave.",
        )
        if PROBLEM in st.session_state:
            st.error(st.session_state[PROBLEM])


def _open_file() -> None:
    file = uploads.take_file(UPLOADER)
    if file is not None:
        with uploads.explain_failure(PROBLEM, "this file"), services().turns.hold_long_place(), services().turns.take():
            trained_slot.session_slot().put(load(file.getvalue(), max_parameters=services().settings.max_parameters))


def _show_results(trained: TrainedNetwork) -> None:
    results, task = trained.results, trained.task
    st.header("What has it learnt?")
    st.markdown(
        f"**{task.title}**, with the weights of step {results.kept_step:,}: **{results.validation_accuracy:.1%}** of "
        f"the validation set is right, where the simple rule reaches {results.baseline:.1%}. Validation loss "
        f"{results.validation_loss:.6f} nats."
    )
    with panels.explain_errors():
        answered = _answer_samples(trained)
    with st.container(key="training_trials"):
        table = {
            "it reads": [task.show_blanks(sample.text) for sample in answered],
            "right answer": [task.join(sample.right_answer) for sample in answered],
            "it says": [task.join(sample.answer) for sample in answered],
            "mistakes": [
                f"{sample.n_wrong} of {max(len(sample.right_answer), len(sample.answer))}" if sample.n_wrong else "none"
                for sample in answered
            ],
        }
        panels.show_table("training_trials_table", pd.DataFrame(table), hide_index=True, height="content")
    wrong = sum(sample.n_wrong > 0 for sample in answered)
    st.caption(
        f"{len(answered)} sequences that it has never learnt from, {len(answered) - wrong} of them without a mistake."
        + (" The decoder says them symbol by symbol, the likeliest at every step." if task.has_decoder else "")
    )
    if task.predicts_next:
        text_generation.text_generation()


@cache_in_session(max_entries=1)
def _answer_samples(trained: TrainedNetwork) -> list[Sample]:
    with services().turns.take():
        return answer_samples(trained.network, validation_data(trained.recipe), trained.recipe)
