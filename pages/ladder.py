"""From the encoder of 2017 to one of today: what each change costs, and what it brings where it is trained."""

import streamlit as st

from playground.training.ablation import Ablation
from playground.training.ladder import climb, ladder_trainings, list_steps
from playground.training.trainer import cross_entropy
from playground.web.shared import panels
from playground.web.views import ladder

panels.draw_heading("What has each change since 2017 brought?")
answer = st.container()  # drawn once the settings are known, to which it may not belong any more
trainings = ladder.draw_start()
with answer:
    ladder.draw_answer(trainings)
ladder.draw_trained()
ladder.draw_settings()
ladder.draw_rungs(trainings)
panels.code_behind("ladder", climb, ladder_trainings, list_steps, Ablation, cross_entropy)
