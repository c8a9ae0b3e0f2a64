# How does a transformer learn?
# $step of $steps: steps done; $right, $rule: shares of right answers to the validation set.

answer = After { $step } of { $steps } steps of learning “{ $task }”, **{ PERCENT($right) }** of the network's answers to new sequences are right. A simple rule, without a network, gets **{ PERCENT($rule) }** right.
answer-new = You have trained nothing yet. Press **Start** and watch a small transformer learn the task “{ $task }”.
answer-soon = Training has started: the share of right answers will appear here.

picture-accuracy =
    .alt = Accuracy by step: training set and validation set.
    .caption = The share of right answers to sequences it learns from (*training set*) and to new ones (*validation set*). Dashed: the simple rule.
picture-loss =
    .alt = Loss by step: batches, training set and validation set.
    .caption = The *loss* is −ln of the probability of the right answer, in *nats*. Guessing among { $classes } answers costs ln { $classes }. A *batch* is what one step learns from. If the loss falls on the training set but not on the validation set, the network memorises.
picture-rate =
    .alt = Learning rate by step.
    .caption = The learning rate: how far a step goes. Its peak so far is { NUM($most) }.
picture-gradient =
    .alt = Norm of the whole gradient by step.
    .caption = The norm of the whole gradient: how steep the loss is. For long runs, the largest of every few steps.

attention = What does a head attend to as it learns?
attention-large = Attention of this size is too large to keep. Shorter sequences, fewer layers or fewer heads show it here.
moment = moment: step { $step } of { $steps }
pattern =
    .alt = Attention of layer { $layer }, head { $head }, after step { $step }.
    .caption = **Layer { $layer }, head { $head }, { $step ->
        [0] before training: random weights
       *[other] after step { $step }
    }.** Row = token of the first validation sequence; its attention weights sum to 1.
reading = The largest weight is { WEIGHT($weight) }; spread evenly over { $tokens } tokens, each would get { WEIGHT($even) }.
which-attention = Which attention

answers = What does “{ $task }” answer?
    .caption = { $sequences } new sequences, { $right } of them without a mistake. With the weights of step { $kept_step }: **{ PERCENT($validation_accuracy) }** of the validation set is right. Validation loss { NUMBER($validation_loss, minimumFractionDigits: 6, maximumFractionDigits: 6) } nats.
own = Ask it yourself, such as `{ $example }`

prompt = What comes next? Type a beginning
next =
    .alt = Probabilities of the next character; the likeliest, { $likeliest }, has { SHARE($probability) }.
    .caption = The likeliest of { $possible } characters that may come next.

shape = { $n_layers ->
    [one] 1 layer
   *[other] { $n_layers } layers
}, { $n_heads ->
    [one] 1 head
   *[other] { $n_heads } heads
}, width { $d_model }, d_ff { $d_ff }, positions { $positions }, { $norm ->
    [none] no norms
   *[other] { $norm_placement }-norm ({ $norm })
}{ $residual ->
    [1] {""}
   *[0] , no residuals
}
size = { $parameters } parameters, { $head } of them in its { $decoder ->
    [yes] decoder
   *[no] output head
}

details = More of this run: learning rate, gradient
stopped = Stopped at step { $step }; { $kept ->
    [yes] the weights of that step are kept
   *[no] no weights are kept
}. Start begins again at step 0, with the seed's initial weights.
at = step { $step } of { $steps }
at-teacher = its teacher, twice as wide, learns first: step { $step } of { $steps }
not-kept = What was trained last is not kept. { $problem }

look = Look into it on every page
    .help = Every page then runs these weights; if they know less than half of your text, it becomes an example of the task. The sidebar has a switch to the same network before training.
download = Download (safetensors)
keep-link = The link restores it, for others too. A file keeps it.
keep-file = A reload loses it. A file keeps it.
open = Open { $task }, { PERCENT($right) } right
upload = Open a network that was trained and downloaded here before
    .label = A file from the download button
    .help = It stays with this tab of your browser and is shown to nobody else.

task = Task
text = A text of your own to learn from
    .placeholder = empty: Python's help topics, 430,000 characters of English
data = It learns from { $train } such sequences, the *training set*, and is measured on { $validation } new ones, the *validation set*. The simple rule to beat: { $rule }. It is right in **{ PERCENT($right) }** of the validation set.
fold-data = Data
fold-optimiser = Optimiser
fold-regularisers = Regularisers
set-steps = steps of training
set-length = longest sequence
set-n_symbols = different symbols
set-n_train = sequences to learn from
set-optimizer = optimiser
set-schedule = learning-rate schedule; the paper's rises in a line, then falls with 1/√step
set-lr = learning rate, or its peak
set-warmup = steps until the peak
set-batch_size = sequences in a step
set-temperature = temperature of the teacher
cost = About **{ $time }** here: { $steps } steps of { $batch } sequences. The *seed* { $seed } draws the same sequences and initial weights for everyone, so this link gives the same curves.
architecture = **The sidebar's architecture{ $small ->
    [yes] , MiniLM's kind in small
   *[no] {""}
}:** { $shape }; { $size }.

question-copy = Say at every position which symbol stands there.
question-reverse = Say at every position which symbol stands there when the sequence is read backwards.
question-sort = Say at every position which number stands there once the sequence is in ascending order.
question-count = Say at every position how often its symbol occurs in the whole sequence.
question-masked = Say which character each [MASK] hides, from the characters on both sides.
question-characters = Say at every position which character comes next, from this one and those before it.
question-seq2seq-copy = Read a sequence with the encoder, and say it again with the decoder, symbol by symbol.
question-seq2seq-reverse = Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol.
question-seq2seq-translate = Read an English sentence with the encoder, and say it in French with the decoder, word by word.

rule-copy = always answer with the commonest answer of the training set
rule-reverse = { rule-copy }
rule-sort = { rule-copy }
rule-count = { rule-copy }
rule-masked = { rule-copy }
rule-characters = answer with the character that most often follows the present one in the training text
rule-seq2seq-copy = { rule-copy }; [EOS], which ends each answer, counts too
rule-seq2seq-reverse = { rule-seq2seq-copy }
rule-seq2seq-translate = { rule-seq2seq-copy }
