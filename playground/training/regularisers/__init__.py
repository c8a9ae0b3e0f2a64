"""Tutorial C's ten regularisers, and experiments that measure what each does."""

from playground.training.regularisers.ablation import Ablation, AblationResult, AblationTraining, ablation_trainings
from playground.training.regularisers.catalogue import REGULARISERS, TEN, Regulariser

__all__ = ["REGULARISERS", "TEN", "Ablation", "AblationResult", "AblationTraining", "Regulariser", "ablation_trainings"]
