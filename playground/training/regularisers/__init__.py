"""Tutorial C's ten regularisers, and experiments that measure what each does."""

from playground.training.regularisers.catalogue import REGULARISERS, TEN, Regulariser
from playground.training.regularisers.comparison import ablation_trainings

__all__ = ["REGULARISERS", "TEN", "Regulariser", "ablation_trainings"]
