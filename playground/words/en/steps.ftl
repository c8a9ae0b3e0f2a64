# How is one vector computed, number by number?
# $token, $query, $key: tokens as code. $before, $read, $between, $made: lengths of vectors.

answer-added = In layer { $layer }, { $token } comes in with length { NUM($before) }. Attention adds a vector of length **{ NUM($read) }**; to the sum, of length { NUM($between) }, the feed-forward network adds one of length **{ NUM($made) }**.
answer-alone = In layer { $layer }, without residual connections, attention turns { $token } from length { NUM($before) } to **{ NUM($read) }**, the feed-forward network from { NUM($between) } to **{ NUM($made) }**.

idea-embedding = A token becomes a vector: its row of the token table. Vectors for its position and its *segment* (first or second text of a pair) may be added.
idea-vectors = A word is a vector of random numbers, drawn from the seed and not learned. Positions may be added.
idea-projections = Three learned maps turn every token's vector into a query, a key and a value.
idea-shared = One learned map gives queries and keys (`tied = shared`): a token's key is its query. Two tokens then score each other alike. Another map gives the values.
idea-merged = One learned map M of the head gives the query; the key is the token's vector itself (`tied = merged`). M takes the place of $W_Q W_K^\top$. Another map gives the values.
idea-fused = One learned map gives every token's query, key and value at once (`fused_qkv`). Its rows lie head by head: those of q, then of k, then of v.
idea-norm-of-q-and-k = Each head's queries and keys are divided by their root mean square, so that scores do not grow with their lengths.
idea-rotation = Pairs of numbers turn by the token's position times a speed of their own. The product of two turned vectors then depends on the distance between their positions only.
idea-dot-products = The query is compared with every key. The more they point the same way, the larger the product.
idea-scale = A sum of more products spreads wider. Dividing by √d_head keeps the softmax from being all or nothing.
idea-distance-bias = Each score gets a number that depends on how far away the key is, whatever the words are.
idea-mask = A key that the query may not see gets the score −∞, which the softmax turns into a weight of 0. Hidden keys: padding, later tokens if attention is causal, tokens outside the layer's window.
idea-softmax = The softmax divides powers of e by their sum. The weights lie between 0 and 1 and add up to 1. Subtracting the largest score first changes no weight; it keeps the powers small.
idea-weighted-sum = Every value counts as much as the weight of its key.
idea-merge = The heads' results are joined end to end. They are one vector of d_model numbers again.
idea-reshape = **Heads and positions are scrambled** (`head_merge = reshape`, as in tutorial C · Explanation): the heads' results lie in memory head by head and are cut into vectors as they lie. Each vector holds results of several tokens, and no mask stops them.
idea-output-projection = One more learned map mixes the pieces of the merged vector.
idea-norm-after-attention = A norm follows attention too: what is added to the vector has a common scale.
idea-first-residual = A *residual connection* adds attention's output to the vector that entered the block.
idea-first-norm = A *norm* brings the vector to a common scale. Learned numbers then stretch it, and may shift it.
idea-feed-forward = The feed-forward network treats each token alone. Its vector becomes d_ff *hidden numbers*, which pass the activation and become a vector again.
idea-norm-after-feed-forward = A norm follows the feed-forward network too: what is added to the vector has a common scale.
idea-second-residual = A second residual connection adds the feed-forward network's output to the vector so far.
idea-second-norm = A second norm brings the vector to a common scale once more.
idea-no-residual = There are no residual connections here: the output goes on alone.
idea-no-norm = This encoder has no norms (`norm = none`): the vector goes on as it is.

projections = The queries, keys and values of head { $head }. Row = token, column = one of the head's { $widths } numbers; the first { $drawn } are drawn. Frames mark q of { $query }, k and v of { $key }.
    .alt = Heatmaps of the head's queries, keys and values

vectors =
    .alt = Heatmap of vectors: { $names }
vectors-embedding = *sum* adds up the rows before it. *embedding* is what enters layer 0.
vectors-norm-of-q-and-k = The query's length goes from { NUM($query) } to { NUM($query_after) }, the key's from { NUM($key) } to { NUM($key_after) }.
vectors-rotation = A vector has two rows, so that its pairs stand below one another: numbers 0 and { $half }, and so on. The fastest pair turns by { NUM($fastest) } radians per token, the slowest by { NUM($slowest, digits: 2) }: it repeats after { $period } tokens. Lengths stay the same.
vectors-products = The query of { $query } and the key of { $key }. The last row adds up to their *dot product*.
vectors-weighted-sum = Each row is one key's value times its weight, the heaviest first. The last row is their sum.
vectors-merge = { $pieces } pieces of { $width } numbers ({ $drawn } are drawn). Row after row, they are the merged vector. From other tokens: { $others }.
vectors-merged-heads = Input: the heads' results, end to end.
vectors-output-projection = Output. Each of its numbers depends on all { $width } numbers of the input.
vectors-first-residual = The vector into the block has length { NUM($stream) }, attention's output { NUM($added) }.
vectors-second-residual = The vector so far has length { NUM($stream) }, the feed-forward network's output { NUM($added) }.
vectors-norm-after-attention = The standard deviation of the numbers is { NUM($before) } before and { NUM($after) } after.
vectors-first-norm = The standard deviation of the numbers is { NUM($before) } before and { NUM($after) } after.
vectors-norm-after-feed-forward = The standard deviation of the numbers is { NUM($before) } before and { NUM($after) } after.
vectors-second-norm = The standard deviation of the numbers is { NUM($before) } before and { NUM($after) } after.
vectors-feed-forward = Input and output: d_model = { $width } numbers each.
vectors-hidden-features = In between: d_ff = { $width } hidden numbers. After the activation, { $quiet } of them are almost silent (within ±0.01).
vectors-changed = What the model computed, what your changes set instead, and the difference.

keys = The frame marks the chosen key, { $key }; click a bar to choose another.
    .alt = Bars: { $title } of one query with every key
    .click = The chosen key. Arrow keys choose its neighbours.
masked-keys = The chosen key is { $key }; click a bar to choose another. Masked keys have no bar.
keys-distance-bias = Added to { $query }'s score with each key: from { NUM($lowest) } to { NUM($highest) }.
keys-dot-products = The dot product of { $query }'s query with every key.
keys-scale = The dot products of { $query }, divided by √{ $width } = { NUM($divisor, digits: 4) }. Their standard deviation goes from { NUM($before) } to { NUM($after) }.
keys-softmax = { $query } attends most to { $heaviest }, with weight { WEIGHT($weight) }. All its weights add up to { NUM($total, digits: 5) }.

matrix = The frame marks { $query } and { $key }; click a cell to choose others.
    .alt = Heatmap: { $title } of every query with every key
mask = The scores of every query with every key; grey is −∞. Hidden from { $query }: { $hidden } of { $keys } keys.
pattern = The weights of every query: the *pattern* of head { $head }. Each row adds up to 1.

check = Recomputed in 64 bits from what the model put in, the largest difference from the model is { NUM($off, digits: 2) }.
symbols = The symbols, and a check

changes = **What if: here your changes act.** { $names }. The model goes on with what they set.
changed-keys = The { $title } of every key as your changes set it; the paler bar is what the model computed. A score of −∞ has no bar.

both = **Before and now.**
these-numbers = these numbers

dropout = What dropout does during training
drops = During training, *dropout* sets each number to 0 with probability p = { $p } and multiplies the others by 1 / (1 − p) = { NUM($factor, digits: 4) }. The draw is random; the sidebar's seed { $seed } repeats it. Cells show the factors; gaps were 0 before. Together with dropout in the layers below, this moves the layer's output for this token by { SHARE($moved) } of its length. Computed without your changes; all stages above are without dropout, as after training.
    .alt = Heatmap: what each number was multiplied by at every dropout

stage = Stage
move-back = Back
move-next = Next
place = { $at } of { $of }
ways = In the order of tutorial { $tutorial }
path = Order
    .help = as the data moves: from the embedding to the output. as tutorial B: from attention outwards, the order of { $tutorial }.


# Symbols of the formulas: a line each.

symbols-embedding =
    $E_{"{"}\mathrm{"{"}id{"}"}{"}"}$: the token's row of the token table
    $v$: the word's random vector
    $P_t$: its position's row of the position table
    $S_0$: the row of segment 0
    $\Delta_t$: your changes
    $W_E$: a learned matrix
    $b_E$: a learned vector
symbols-projections =
    $W$: a learned matrix of this head
    $b$: a learned vector
    $x_t$: the vector of the query's token
    $x_j$: the vector of the key's token
symbols-norm-of-q-and-k =
    $\epsilon$: a small constant that prevents a division by 0
    $\gamma$: a learned factor, the gain
symbols-rotation =
    $x_{"{"}t,i{"}"}$: number i of the query, or of the key, at position t
    $\theta_i$: the speed of pair i
symbols-dot-products =
    $q_t$: the query of token t
    $k_j$: the key of token j
    $i$: counts their numbers
symbols-scale =
    $s_{"{"}t,j{"}"}$: the score of query t with key j
    $d_\text{"{"}head{"}"}$: how many numbers q and k have
symbols-distance-bias =
    $s_{"{"}t,j{"}"}$: the score of query t with key j
    $m$: this head's slope
    $b$: a learned number for this range of distances
symbols-mask =
    $s_{"{"}t,j{"}"}$: the score of query t with key j
symbols-softmax =
    $a_{"{"}t,j{"}"}$: the attention weight that query t gives key j
    $s_{"{"}t,j{"}"}$: their score
    $s_{"{"}t,i{"}"}$: the score with key i
    $m$: the largest score
symbols-weighted-sum =
    $z_t$: the head's result for token t
    $a_{"{"}t,j{"}"}$: the attention weight that query t gives key j
    $v_j$: the value of token j
symbols-merge =
    $c$: the merged heads
    $z$: the heads' results
    $H$: heads
    $T$: tokens
    $D$: d_model, how many numbers a vector has
symbols-output-projection =
    $o_t$: attention's output
    $W_O$: a learned matrix
    $c_t$: the merged heads
symbols-norm =
    $x$: the vector before the norm
    $\hat{"{"}x{"}"}$: the vector after the division
    $\mu$: the mean of its numbers
    $\sigma$: their standard deviation
    $m$: the mean of their squares
    $s$: their unbiased standard deviation
    $\epsilon$: a small constant that prevents a division by 0
    $\gamma$: a learned factor, the gain
    $\beta$: a learned number, the bias
    $D$: d_model, how many numbers a vector has
    $y$: the vector after the norm
symbols-residual =
    $x_t$: the vector that entered the block
    $o_t$: attention's output
    $x'_t$: the vector after attention
    $y_t$: the vector that entered the feed-forward network
    $f_t$: the feed-forward network's output
    $x''_t$: the vector after both
symbols-feed-forward =
    $y_t$: the vector that enters
    $W$: learned matrices
    $b$: learned vectors
    $u$: the hidden numbers before the activation
    $g$: the gate
    $h$: the hidden numbers after the activation
    $\Phi$: the share of a normal distribution below u
    $\sigma$: the sigmoid, 1 / (1 + exp(−u))
    $\odot$: number times number
    $f_t$: the output
