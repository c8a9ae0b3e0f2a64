# How does the encoder know the order of the words?
# $first, $second: the two tokens that are swapped. $placed, $bare: the largest change of an output with positions and without.

how-learned = It adds a learned position vector to each token.
how-sinusoidal = It adds to each token a position vector of sines and cosines.
how-sinusoidal-doubled = It adds to each token a position vector of sines and cosines with twice the exponent.
how-concatenated = The second half of each token's vector is its position's.
how-none = It adds no positions.
how-rotary = It turns each query and key by an angle that depends on the position.
how-alibi = It subtracts from each score an amount that grows with the distance.
how-relative = It adds to each score a number that depends on the distance.

answer-placed = Swap { $first } and { $second }: outputs, which are at most { NUM($size) } in size, change by up to **{ NUM($placed) }**; without positions, by **{ NUM($bare) }**. { $part ->
    [mask] The causal mask tells the order too.
    [window] The attention window tells the order too.
    [reshape] The reshape merge tells the order too.
   *[none] Nothing else tells the order.
}
answer-bare = Swap { $first } and { $second }: outputs change by up to **{ NUM($bare) }**. { $part ->
    [mask] Only the causal mask tells the order.
    [window] Only the attention window tells the order.
    [reshape] Only the reshape merge tells the order.
   *[none] **It does not know the order.**
}
answer-same = { $first } and { $second } are the same token: a swap changes nothing. Choose two different tokens.
one-token = This sentence has one token: there is nothing to swap.

swap-first = Swap this token: { $token }
swap-second = with this one: { $token }
swapped = The sentence after the swap: **{ $sentence }**
bars =
    .alt = Bars: largest change of each word's output after the swap
    .caption = How far does each word's output move? A bar is the largest change among its numbers. A word is compared with itself, wherever it stands. Changes by rounding count as none.

trained = **A small encoder trained without positions.** { $lost }
panel-table = The position table
panel-distances = How scores change with distance
closer = Look closer: what is added, and how the table is made
view = Look closer
no-table = This encoder adds no table. Below is the standard one, for comparison.

kind-learned = **This table is learned**, and its row $P_t$ is added to the vector of the token at position $t$. Its rows are parameters, like every other weight. A longer sentence than the table is cut: there is no row for the rest.
kind-sinusoidal = **This table is made of sines and cosines.** Each pair of dimensions changes more slowly than the pair before. Sines go on for ever, but a model has learned only from the rows that it has seen.
kind-sinusoidal-doubled = **This is the table of tutorial B · Encoder Block.** Its exponent counts twice, so most dimensions hardly change.
kind-concatenated = **A row of this table is the second half of its token's vector** (`position_join = concatenate`); the token's own half stands before it. A linear map of both, W [token; position], is the sum of a map of each: what adding does, with two maps and half as many numbers each.
kind-none = **This encoder adds no positions.** The standard table is drawn for comparison.
kind-rotary = **This encoder turns queries and keys**: each pair of their numbers by the position times a speed of its own. The product of two turned vectors depends on how far apart they are, and which comes first. In a sentence longer than any seen, slow pairs meet new angles; a larger base slows them further.
kind-alibi = **This encoder lowers scores with distance**, in each head at another rate. Nothing of it is learned. In a sentence longer than any seen, the lines go on: what is far counts little.
kind-relative = **This encoder adds a learned number to each score**: one for each range of distances, in each head another. In a sentence longer than any seen, the farthest range takes all further distances.

table =
    .alt = Heatmap of the position table: positions in rows, dimensions in columns
    .caption = Each row is the vector of one position; each column is one of its numbers, a *dimension*. Drawn: { $rows } of { $all } positions, { $columns } of { $width } dimensions.
distances =
    .alt = Lines: what becomes of a score by the distance of key and query
curves-rotary = The factor on a pair of features that is equal in query and key: 1 at the same place, less once the pair has turned. Fast pairs tell neighbours apart; slow ones hardly turn, and can carry what words mean.
curves-alibi = What is added to each head's scores: nothing for the token itself, and less the further a key is. Heads with steep lines look near, flat ones far.
curves-relative = What is added to each head's scores, whatever the words are. Left: keys before the query; right: keys after it.

equivariance = **Why does the order get lost without positions?** A score depends on two vectors, not on where they stand, and a weighted sum does not depend on the order of its terms. So the outputs swap places with their words and are otherwise the same: attention is *equivariant*. A causal mask or a window breaks this: it lets a token attend to some places and not to others.

addition = The position's row is { NUM($low) } to { NUM($high) } times as long as the embedding. The mean cosine between embedding and sum is { NUM($cosine) }; 1 means the same direction.

similarity =
    .alt = Heatmap of the dot products between positions
    .caption = The dot product of every two rows. If stripes follow the diagonal, only the *offset* counts: how far apart two positions are.

wavelengths =
    .alt = Lines: wavelength of each pair of dimensions, standard and doubled exponent, on a logarithmic axis
    .caption = The first formula is the paper's (Vaswani et al. 2017, section 3.5), the second that of tutorial B · Encoder Block: its exponent counts twice, so each frequency is squared. A pair of dimensions, a sine and a cosine, repeats after its *wavelength*. Of { $pairs } pairs, { $standard } complete a turn within max_len = { $longest }; with the doubled exponent { $doubled } do. Slower pairs hardly tell neighbouring positions apart.
