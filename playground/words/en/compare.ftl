# What difference does a change make?
# "Pinned" and "now" are the two settings. $share, $end, $moved: shares, 0 to 1.

alone = Compare two settings: this page shows in which layer they part and how far apart they end. One is *pinned* and stays as it is. The other is *now*: what the sidebar says.
answer-tokens = Pinned and now part **at the tokens**: { $pinned } tokens pinned, { $now } now. The first difference is at position { $position }: { $one } pinned, { $other } now.
answer-widths = Pinned and now part **at the embeddings**: a token's vector has { $pinned } numbers pinned and **{ $now }** now, so vectors cannot be subtracted.
answer-same = Pinned and now are **the same**: all numbers are equal but for rounding.
answer-lost = Numbers have become too large for 32-bit floats, so pinned and now cannot be compared.
answer-apart = { $place ->
    [embeddings] Pinned and now part at once, **at the embeddings**.
    [norm] Pinned and now are the same up to **the last norm**.
    [end] Pinned and now are the same for **{ $layer ->
        [one] one layer
       *[other] { $layer } layers
    }**, and one goes on.
   *[layer] Pinned and now start from the same embeddings and part **in layer { $layer }**.
} There, the vector of { $token } differs most, by **{ SHARE($share) }** of its length. At the end, the largest difference of a token is **{ SHARE($end) }**, and the cosine of the two sentence vectors is **{ NUM($cosine, digits: 4) }**.

points =
    .alt = How far apart the vectors of the two runs are, a bar for each layer
    .caption = **How far apart are pinned and now?** A bar is the token that differs most after a layer: the length of its difference, in percent of its pinned length. A layer without a bar is the same but for rounding.

head = One head, in both
    .alt = Attention: queries in rows, keys in columns
    .caption = **{ $name }.** Layer { $layer }, head { $head }.
head-tokens = Pinned and now read different tokens, so their weights cannot be subtracted.
head-same = In this head, no weight has changed. Switching a head off changes what it passes on, not its weights.
head-moved = In this head, { SHARE($moved) } of a query's weight has moved to other keys, on average. The largest change is what { $query } gives { $key }: { WEIGHT($before) } → { WEIGHT($after) }.
moved =
    .alt = Share of its weight that each head has moved to other keys
    .caption = **How much has each head changed?** A cell is the share of a query's weight that has moved to other keys, averaged over queries. Click a cell to open its head.
    .reading = Layer { $layer }, head { $head } has changed most: { SHARE($share) }.

start = Compare the two
pair-norms = Norms after or before?
    .question = Two encoders as large as yours, with the same random weights. In one, a norm stands after each part of a layer, in the other before it. In which layer do they part?
pair-weights = Random or trained?
    .question = The same architecture with random and with trained weights. How alike is what they make of your sentence?
pair-head = One head off?
    .question = The present model, with and without layer { $layer }, head { $head }. Does the difference grow from layer to layer?
