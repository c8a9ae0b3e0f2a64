"""From the encoder of 2017 to one of today: what each change costs, and what it brings where it is trained."""

from playground.training.ablation import Ablation
from playground.training.ladder import climb, ladder_trainings, list_steps
from playground.training.trainer import cross_entropy
from playground.web.shared import panels
from playground.web.views import ladder

panels.heading("What has each change since 2017 brought?")
ladder.draw_answer()
trainings = ladder.draw_start()
ladder.draw_trained(trainings)
ladder.draw_settings()
ladder.draw_rungs(trainings)
panels.code_behind("ladder", climb, ladder_trainings, list_steps, Ablation, cross_entropy)
