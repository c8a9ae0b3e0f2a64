# Where is the mistake?

answer = This encoder runs, but somebody got it wrong. Mistakes in it: **{ $mistakes }**{ $found ->
    [0] {""}
   *[other] , found: { $found }
}. Test it, then press the suspect that explains what you see.
solved = Found: { $mistakes }.

case = **Case { $seed }.** A small encoder with random weights reads *{ $words }*. Mask: { $mask ->
    [none] none, every token looks at every token
    [padding] padding, the last two tokens should not be looked at
   *[causal] causal, no token should look at a later one
}.
should = What the encoder should be
    .parts =
        - 2 layers of 4 heads; both are counted from 0.
        - token vectors of 16 numbers (d_model), 4 of them for each head (d_head).
        - feed-forward networks of 32 numbers (d_ff), with { $activation }.
        - { $placement }-norm around attention and the feed-forward network.
        - sinusoidal positions, added to token vectors that are multiplied by √d_model.

level = Level
next = Next case
again = Start this case again

tests = **Tests.** Each shows one finding.
more-tests = More tests
suspects = **Suspects.** Some sound like mistakes but are correct choices.

not = **Not:** { $why }
looks-wrong = **Looks wrong, and is right:** { $why }
alibi = { $title }. It would change **{ $others }** of { $all } numbers of { $tensor }.

map = { $whose ->
    [theirs] **This encoder.**
   *[right] **A right one.**
}
    .alt = { $test }, { $whose ->
        [theirs] this encoder
       *[right] a right one
    }, as colours.
