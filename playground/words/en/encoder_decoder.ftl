# How does a decoder read what the encoder wrote?
# $read, $token, $query, $key: tokens in markdown. $percent: a probability. $weight: of attention.

terms = The *encoder* reads the source once. The *decoder* writes the target, token by token. In *cross-attention* it looks at what the encoder wrote.
source = Source
no-text = Type a sentence into “Your text”: it is the source that the encoder reads.
english = English sentence
    .another = Another
own = Target text for the decoder, a line for each of your sentences
    .settings = The encoder sees its whole source, whatever the sidebar's causal switch says. Weights of an encoder alone are not used: both halves are then random, drawn from the sidebar's seed.

next = After { $read }, the decoder's next token is { $token }, with a probability of **{ NUM($percent, digits: 4) }%**. In { $attention ->
    [encoder-self] the encoder's self-attention
    [decoder-self] the decoder's self-attention
   *[cross] cross-attention
}, layer { $layer }, head { $head } attends from { $query } most to { $key }, with weight **{ WEIGHT($weight) }**.

written = The decoder writes: **{ $text }**
written-right = The translation is right.
written-wrong = By its grammar it would be *{ $right }*.
written-open = It has not learnt sentences like this one: what it writes is a guess.

attention = Which attention
grid =
    .alt = Attention of { $layers } × { $heads } heads as thumbnails: { $attention }
    .caption = Every head. Click one to open it.
    .click = The open head. Arrow keys open its neighbours.
pattern =
    .alt = Attention weights of { $attention }, layer { $layer }, head { $head }: queries in rows, keys in columns
    .caption = **{ $name }, layer { $layer }, head { $head }.** { $attention ->
        [encoder-self] Row = source token, column = source token, in both directions.
        [decoder-self] Row = target token, column = target token, never ahead.
       *[cross] Row = target token, column = source token.
    }
    .click = The chosen step, in its row. Click a row, or use the arrow keys, to choose another.

run = { $source } + { $target } tokens · { $layers } × { $heads } heads in each half · { $weights ->
    [random] :orange-badge[untrained: random weights]
    [trained] trained here
   *[translator] trained example
}{ $cut ->
    [0] {""}
   *[other] {" "}· { $cut } tokens are cut off
} · { $total } parameters
logits = The softmax turns every token's score, its *logit*, into a probability.
    .title = What comes next?
step = step
    .so-far = So far: { $text }

training = What this translator has learnt, and its words
    .text = This small encoder–decoder learnt from { NUM($sentences, digits: 6) } made-up sentences in { $steps } steps. Of { $others } other sentences it gets { NUM($percent, digits: 4) }% of the words right. Beside the words it learnt that a French colour follows its noun, and that articles, adjectives and colours take the noun's gender: *le petit chat blanc*, but *la petite maison blanche*. The Training page has its task, *{ $task }*.

masks = Who may look at whom? The masks
    .colours = Row = *query*, the token that looks. Column = *key*, a token that is looked at. **Violet is allowed (True), grey is hidden (False).**
    .rows = Tutorial E · From Scratch lets padding mask the query *rows* instead of the key columns. Padded queries, here { $padding }, then attend evenly to everything, and only the causal mask hides padded keys.
mask =
    .alt = Mask { $name }: { $allowed } of { $pairs } pairs are allowed
mask-no-peek = **Causal mask.** A token sees itself and earlier ones. Hidden: { $hidden } of { $pairs } pairs.
mask-target-padding = **Target padding mask.** Every target token is allowed, [PAD] is not. Hidden: { $hidden } of { $pairs } pairs.
mask-combined = **Causal and target padding mask.** What both allow, for the decoder's self-attention. Hidden: { $hidden } of { $pairs } pairs.
mask-source-padding = **Source padding mask.** Every source token is allowed, [PAD] is not: for encoder and cross-attention. Hidden: { $hidden } of { $pairs } pairs.
