# What happens to a sentence in an encoder?

lead = See what a transformer encoder does with your sentence, and train one yourself.
path = Your sentence's path, box by box

chips = Chips are tokens with their numbers: dashed if special or padding, thin red if unknown. Press one to make it the *query* (thickest frame); the other red frame is the *key*.
chip = position { $position }, { $below }, { $kind ->
    [special] added by the tokenizer
    [unknown] not in the vocabulary: “{ $text }”
   *[plain] characters { $start } to { $end }: “{ $text }”
}
padding = padding, masked
why = Opens the page Attention, which splits this weight by what caused it.
stages = A box is a step with its shape. Lines past boxes are *residual connections*. Press a box to open its page. This encoder has **{ $parameters } parameters**; your sentence takes **{ $flops } million floating-point operations**.
costs = **Before and now.** { $costs }

shapes = Every shape, in order
    .caption = Sentences: B = { $sentences }. Tokens: T = { $tokens }. Heads: H = { $heads }. The { $steps } steps hold { $numbers } numbers in all.
batch = Batch
    .help = The sentences that are computed together.
