# What do regularisers do?
# $plain, $right: shares of right answers to new sequences, without and with the regulariser that changed most.

answer-none = Two networks learn the same task from the same sequences, one of them with a *regulariser*, meant to improve results on unseen data. Start a comparison.
answer-begun = The plain run is training: its share of right answers will appear here.
answer-plain = The **plain run** gives **{ PERCENT($plain) }** right answers to new sequences.
answer-seed = Largest change of { $runs }: **{ $title }** gives **{ PERCENT($right) }** right answers to new sequences, the plain run **{ PERCENT($plain) }**. Up to { $noise } points can be chance, and one seed can be luck: three tell more.
answer-seeds = Largest change of { $runs }: **{ $title }** gives **{ PERCENT($right) }** right answers to new sequences, the plain run **{ PERCENT($plain) }**. Means of { $seeds } seeds, whose changes lie { $spread } points apart; up to { $noise } can be chance.

ready-dropout = **Memorised, then dropout.** 100 sequences are memorised. With dropout no head can rely on one token: expect more right answers.
ready-smoothing = **Wrong labels, then smoothing.** 30% of the taught answers are wrong. Smoothing never asks for certainty: expect more right answers.
ready-clipping = **Exploding, then clipping.** With large steps one long gradient ruins the weights. Clipping shortens it: expect only that run to learn.
ready-no_causal_mask = **Without the causal mask.** The next character is not hidden: expect it to be copied in training, and missed in use.

set-train = **Sequences it learns from**
    .caption = More right answers here than on new sequences: the *gap*.
set-validation = **New sequences**
    .caption = Dotted: without learning; for accuracy, { $rule }. A line is a run with one seed. A cross: it *diverged* and ended there.
table =
    .caption = Means over the seeds. Gap: training minus validation. In use: the validation set again, one sequence at a time, without padding and with later characters hidden. ±: against the plain run. Spread: the seeds' highest ± points minus their lowest. Loss in nats.
curves = The numbers of the curves
