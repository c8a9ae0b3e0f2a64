# What do regularisers do?
# $plain, $right: shares of right answers to new sequences, without and with the regulariser that changed most.

answer-none = Two networks learn the same task from the same sequences, one of them with a *regulariser*, meant to improve results on unseen data. Start a comparison.
answer-begun = The plain run is training: its share of right answers will appear here.
answer-plain = The **plain run** gives **{ PERCENT($plain) }** right answers to new sequences.
answer-seed = Largest change of { $runs }: **{ $title }** gives **{ PERCENT($right) }** right answers to new sequences, the plain run **{ PERCENT($plain) }**. Up to { $noise } points can be chance, and one seed can be luck: three tell more.
answer-seeds = Largest change of { $runs }: **{ $title }** gives **{ PERCENT($right) }** right answers to new sequences, the plain run **{ PERCENT($plain) }**. Means of { $seeds } seeds, whose changes lie { $spread } points apart; up to { $noise } can be chance.

ready = Set up
ready-dropout = **Memorised, then dropout.** 100 sequences are memorised. With dropout no head can rely on one token: expect more right answers.
ready-clipping = **Exploding, then clipping.** With large steps one long gradient ruins the weights. Clipping shortens it: expect only that run to learn.

set-train = **Sequences it learns from**
    .caption = More right answers here than on new sequences: the *gap*.
set-validation = **New sequences**
    .caption = Dotted: the simple rule, without learning: { $rule }. A line is a run with one seed. A cross: it *diverged* and ended there.
table =
    .caption = Means over the seeds. Gap: training minus validation. In use: the validation set again, with later characters hidden. ±: against the plain run. Spread: the seeds' highest ± points minus their lowest. Loss in nats.

does-dropout_attention = Some attention weights are 0 in this step, after the softmax, so that no head can rely on a single token.
does-causal = Later characters are hidden: scores of later keys become −∞. Without it, a network can look the next one up, and learns little else.
does-weight_decay = Every step of the optimiser pulls matrices and tables towards 0, so that a weight stays large only if the data asks for it. It is meant for AdamW, which takes λ · lr · w; the same λ is stronger in SGD and Adam.
does-layer_norm = Every vector is brought to one size, twice in every block and wherever else the sidebar has a norm, so that no layer's numbers drift off.
does-label_smoothing = A share ε of each target of the loss is spread over all classes, so that certainty is never rewarded.
does-patience = Training ends once the validation loss has not fallen for so many evaluations; the weights with the lowest come back.
does-token_masking = Some tokens that the encoder reads in training are shown as [MASK], so that the answer has to follow from the others.
does-clip = A gradient whose norm is larger than this is shortened to it before the step, so that one odd batch cannot throw the weights away.
does-distill = A teacher twice as wide learns first. This share of the loss compares with its probabilities instead of the bare answers.
does-dropout_residual = Some numbers that attention and feed-forward add to the stream are 0 in this step, so that the stream carries the load.
