# How long are the vectors, layer by layer?
# $first, $last: median lengths of the residual stream before the first layer and after the last.

answer = The tokens' vectors go from **{ NUM($first) }** to **{ NUM($last) }** over { $layers ->
    [one] one layer
   *[other] { $layers } layers
} (medians over { $tokens ->
    [one] one token
   *[other] { $tokens } tokens
}).

lengths =
    .alt = Median length by depth of the residual stream and of the outputs of attention and feed-forward
    .caption = Length is the L2 norm. Lines are medians over tokens, bands hold all tokens but outliers. *Residual stream*: what passes from layer to layer. *Attention*, *feed-forward*: what they add to it.
    .reading = After the last layer, lengths go from { NUM($shortest) } to { NUM($longest) }.
    .click = The chosen layer. Arrow keys choose its neighbours.

why-post = **Why?** *Post-norm*: every layer ends in a norm, which sets each vector's length again. A normalised vector has length { NUM($normalised) }; with the norm's gain, medians after a layer go from { NUM($low) } to { NUM($high) }.
why-pre = **Why?** *Pre-norm*: norms stand only before attention and feed-forward. Nothing resets the stream: each layer adds to it.
why-both = **Why?** *Norms on both sides* of attention and feed-forward, but not in the stream. Nothing resets it: each layer adds to it.
why-none = **Why?** *No norm*: each layer reads the stream as it is and adds to it, so what it adds grows too.
why-alone = **Why?** *No residual connections*: only the feed-forward's output leaves a layer.

effect-layer = **What does a norm do?** It subtracts the mean of a vector's numbers and divides by their standard deviation. Learned weights, a *gain* and a *bias* for each number, then stretch and shift it. Here for { $token } in layer { $layer }:
effect-scalar = **What does a norm do?** It subtracts the mean of a vector's numbers and divides by their standard deviation. One learned *gain* and one *bias* then stretch and shift all numbers. Here for { $token } in layer { $layer }:
effect-rms = **What does a norm do?** It divides a vector's numbers by the root of their mean square. Learned weights, a *gain* for each number, then stretch it. Here for { $token } in layer { $layer }:
effect-none = **What does a norm do?** This encoder has none: nothing resets a vector's length.

norm = { $place ->
    [after] Norm { $number }, after { $number ->
        [1] attention
       *[2] the feed-forward
    }
   *[before] Norm { $number }, before { $number ->
        [1] attention
       *[2] the feed-forward
    }
}
numbers =
    .alt = { $title }: numbers of the token's vector, before the norm, normalised, and after its learned weights
    .caption = **{ $title }.**
    .reading = Length { NUM($before) } → { NUM($normalised) } normalised → { NUM($after) }.

trained = **Trained with 12 layers.** Pre-norm: { $pre } Post-norm: { $post }
closer = Look closer: one norm at work, every token
view = Look closer
    .help = tokens: lengths token by token. statistics: mean and standard deviation around every norm. by hand: one norm with its formula.

tokens =
    .alt = Heatmap of the length of each token's vector by depth
    .caption = A column is a token. A row is what leaves a layer, or the embeddings. The frame marks the chosen token after the chosen layer; click a cell to choose.
    .reading = Lengths go from { NUM($shortest) } to { NUM($longest) }.
    .click = The chosen layer, in its row, and token, in its column. Arrow keys move them.

statistics-std = Standard deviation (std) over a token's { $features } features, then averaged over tokens.
    .alt = Standard deviation of the features before and after every norm

statistics-mean = Mean over a token's { $features } features, then averaged over tokens.
    .alt = Mean of the features before and after every norm

by-hand = `{ $name }` of { $token }
    .norm = Norm, in the order of the computation
    .checked = Formula and PyTorch differ by at most { NUM($off, digits: 2) } over { $features } features. Then the norm applies its learned weights: out₀ = { NUM($out, digits: 4) }.
