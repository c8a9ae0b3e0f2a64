# How alike are the sentences' vectors?
# $one, $other: sentences in markdown with their numbers. $cosine, $median: cosines of two sentences' vectors.

nothing = Type a sentence into “Your text”, or more into the list on this page. They need at least one token each.
overflow = Overflow: numbers have become too large for 32-bit floats, so there are no cosines. Norms prevent this.
bounded = { $kept } of { $all } sentences are compared. The others have no token, or are too many to run at once.
cut = { $n ->
    [one] One sentence is
   *[other] { $n } sentences are
} cut after { $tokens } tokens.

answer-one = There is only one sentence. Type a second one, and this page says how alike they are.
answer-closest = { $one } and { $other } are the closest pair: the cosine of their vectors is **{ NUM($cosine) }**, where 1 is the same direction. The median ({ $pairs ->
    [one] one pair
   *[other] { $pairs } pairs
}) is **{ NUM($median) }**.
answer-framed = In the red frame are { $first } and { $second }: **{ NUM($framed) }**.
answer-random = It means nothing: these weights are **random**.

example = Sentences { $first } to { $last } are an example: some mean the same in other words, some mean the opposite in nearly the same words.
run = { $sentences ->
    [one] One sentence
   *[other] { $sentences } sentences
} of { $shortest } to { $longest } tokens.

list = More sentences to compare, one a line
    .help = They join the sidebar's, up to { $most } sentences.
first = First sentence
second = Second sentence

pooling = How a sentence's tokens become one vector (pooling)
    .help = mean: over all of the sentence's tokens. first token: the vector of the first token alone, often [CLS]. mean with padding: a mistake, the mean also counts [PAD] tokens.

matrix =
    .alt = Heatmap of the cosine between each two of { $n } sentences
    .caption = Each row and each column is a sentence. A cell is the *cosine* of their vectors: 1 is the same direction, 0 a right angle. The red frame is the chosen pair; click a cell to choose another.
    .click = The chosen pair: first sentence in its row, second in its column. Arrow keys move them.

ranking = Every pair, the closest first
    .caption = *In common*: of all different tokens of the two, the share that is in both, without special tokens and punctuation. Click a row to choose its pair.

closer = Look closer at the red frame: why alike, or not?
view = View
    .help = token by token: what each pair of tokens adds to the cosine. leave a word out: the text without one word, run again. by depth: the cosine after each block. one word: a word's vectors in several sentences, after each block.

tokens =
    .alt = Heatmap of what each pair of tokens adds to the cosine of two sentences
    .caption = A row is a token of the first sentence, a column one of the second. A cell is what the two add to the cosine. A token's vector also holds what attention brought from others.
    .reading = All cells add up to { NUM($sum) }, the cosine. The strongest is { $row } with { $column }: { NUM($strongest) }.
    .axis = part of the cosine
sums =
    .alt = Bars: what each token of the { $which } sentence adds to the cosine
    .caption = Sentence { $number }: what each token adds to the cosine. If there are many, the last bar is the sum of the weakest.

left-out = One word at a time is taken out of the text, and the shorter text is run again. The other sentence stays whole. Each punctuation mark at the start or end of a word is its own word.
    .changes = Changes that name a token, a position or a sentence are not made here. Without them, the cosine is { NUM($cosine) }.
    .one = Sentence { $number } has only one word: without it, nothing is left to run.
    .alt = Bars: the change of the cosine without each word of the { $which } sentence
    .caption = Sentence { $number } without each of its words: the change of the cosine. The largest is without { $word }: from { NUM($before) } to { NUM($after) }. If there are many, the strongest are drawn and the table has all.
    .axis = change of the cosine

depths =
    .alt = Lines: the cosine of the chosen pair and the median of all pairs, by depth
    .caption = The cosine after each block (0 = embeddings; a final norm is one more). If the chosen pair leaves the median, the blocks there tell the two apart, or find them alike.

word = Word
word-in = { $word } (in { $n } sentences)
word-none = This view needs a word that is in two of the sentences.
word-depths =
    .alt = Lines: the cosine of a word's vectors in two sentences, by depth, beside that of other words
    .caption = The vector of { $word } in sentence { $number }: its cosine with the same word in at most four other sentences, after each block (0 = embeddings). At 0, little but the position differs; then attention adds the sentence around the word. *other words*: the mean over all other tokens of those sentences.

how = What these numbers are, and what they do not prove
pooling-mean = **One vector.** A sentence's vector is the mean of its tokens' vectors (Reimers & Gurevych 2019, section 3).
pooling-first = **One vector.** A sentence's vector is that of its first token alone: the model has to have been trained to put the sentence there.
pooling-padding = **One vector, with a mistake.** The mean also counts [PAD], which fills every sentence up to the longest: a cosine depends on the other sentences of the list. No error is raised.
reading = **How to read a cosine.** It compares directions. A shared topic and shared words raise it, even if the meaning turns around: a negation is one small word, and another order changes no word. Read it beside the other pairs, and beside the tokens that both have in common.
parts = **The sum.** $x_i$ and $y_j$ are the tokens' vectors as they leave the encoder, $\bar x$ and $\bar y$ the sentences'. Every token that counts weighs the same: $a_i = 1/{ $n }$ and $b_j = 1/{ $m }$.
