# What is each part for?
# Shares are those of hidden words that trained encoders of the small English get right.

view = Compare
answer = Of { $changes } changes, **{ $name }** costs most: the share of hidden words that are right falls from **{ SHARE($before) }** to **{ SHARE($after) }**, and { $fallen } of ten capabilities fall to guessing.
answer-ladder = The encoder of 2017 gets { $first } of hidden words right; with all { $changes } changes, { $top }. **{ $rung }** changes most: from { $before } to { $after }. (In brackets: the range of the seeds.)

table =
    .alt = Heatmap of the share of hidden words that trained encoders get right, by capability
    .caption = Share of hidden words that are right, the mean of three seeds. { $about } Grey: at most { $grey }, where guessing gets { $chance } or less. Click a cell for its sentence.
    .click = The chosen encoder, in its row, and the capability, in its column. Arrow keys move them.
table-single = Each row changes one setting of the base (concatenated sinusoids: of the row above), which has { $n_layers } layers, { $n_heads } heads, width { $d_model }, { $positions } positions and { $norm_placement }-norm.
table-ladder = Each row keeps the changes above it; at larger sizes, results may differ.

cell = **{ $name }, { $capability }:** { $share } right; with seed 0, { $seed }.
change = All capabilities: { $before } on the row above, { $here } here.
example = “{ $sentence }” Right: *{ $answer }*.
words = **{ $name }:** { $words }.
head = Removing head { $head } of layer { $layer } costs *{ $answer }* most: { $cost }.
open = Open this encoder
    .help = Every page then has it, with this sentence.
train = Train this encoder, about { $time }

rungs = The rungs
panel-costs = What each rung costs: parameters, FLOPs and memory
costs = An encoder with { $heads }, d_model { $width } and { $rows } tokens in its table. FLOPs: additions and multiplications in the matrix products of one pass over { $longest } tokens. Memory: the weights, and the keys and values of one such sentence, 4 bytes a number. In brackets: the change from the row above.

kept = It does all that the base encoder does.
lost = It no longer does, by its share of right words over { $seeds ->
    [one] 1 seed
   *[other] { $seeds } seeds
}: { $capabilities }. Guessing gets { $chance }.

# What each capability takes.

takes-agreement = Find the subject, not the noun that stands nearest, and see whether it is one or many.
takes-pronoun = Bring three words together: the verb says who is meant, and that noun says *he* or *she*.
takes-who_did_what = Combine the order of two nouns with an active or passive verb.
takes-negation = Turn a word into its opposite if *not* stands before it.
takes-recall = Find the same colour further back, then take the word behind it: one step needs the other's result.
takes-tired_or_wide = Choose the noun that the adjective fits, though another adjective stands beside the other noun.
takes-it_or_they = Choose the noun that the adjective fits, and see whether it is one or many.
takes-looks_right = Read the first word of time to the right: what stands to the left says nothing.
takes-far = Read a word of time ten to twenty words back, past another one.
takes-biggest = Compare two pairs, then take the end of the row that they make: each step needs the one before.

# The rungs of the ladder, each with what its paper reports.

rung-1 = **GELU** (2016): the activation is smooth: x · Φ(x) instead of max(0, x).
    .paper = *The paper:* A median error of 7.89% on CIFAR-10, 8.16% with ReLU. BERT made it usual. (Hendrycks & Gimpel 2016)
rung-2 = **learned positions** (2017): the position table is learned, no longer made of sines.
    .paper = *The paper:* Nearly the same: 25.7 BLEU with a learned table, 25.8 with sines. BERT made it usual. (Vaswani et al. 2017, table 3, row E)
rung-3 = **RMS norm** (2019): norms subtract no mean and add no bias.
    .paper = *The paper:* As good as layer norm, in 7% to 64% less time. (Zhang & Sennrich 2019, abstract)
rung-4 = **pre-norm** (2020): norms stand before attention and feed-forward, and after the last layer.
    .paper = *The paper:* Without a warm-up of the learning rate, post-norm falls from about 34 BLEU to 8.45; pre-norm needs none. (Xiong et al. 2020)
rung-5 = **gated feed-forward** (2020): a third linear map multiplies the activation's output; the hidden width shrinks.
    .paper = *The paper:* Log-perplexity 1.633 with GEGLU, 1.679 with GELU, after 524,288 steps. (Shazeer 2020, table 1)
rung-6 = **local windows** (2020): every second layer attends within a quarter of the longest sentence.
    .paper = *The paper:* 75.0 on WikiHop, where RoBERTa, which reads 512 tokens at once, has 72.4. (Beltagy et al. 2020)
rung-7 = **norm on queries and keys** (2020): queries and keys are normed before they are compared.
    .paper = *The paper:* 0.928 BLEU more on average, over five pairs of languages with little text. (Henry et al. 2020, abstract)
rung-8 = **rotary positions** (2021): queries and keys are rotated by their position; no table.
    .paper = *The paper:* 27.5 BLEU from English to German, 27.3 with sines. (Su et al. 2021, table 1)
rung-9 = **no biases** (2022): linear maps and norms add no learned vector.
    .paper = *The paper:* Large models train with fewer accidents; no number is given. (Chowdhery et al. 2022, section 2)
rung-10 = **grouped queries** (2023): two heads of queries share keys and values.
    .paper = *The paper:* An average score of 47.1 instead of 47.2, in 0.28 s instead of 1.51 s: eight groups for 64 heads. (Ainslie et al. 2023, table 1)
