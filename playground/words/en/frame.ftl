# What stands around every page: notices, the run, the pinned settings, changes, saving.

no-text = Type a sentence into “Your text”, and this page shows what the encoder does with it.
vectors = words are vectors drawn from the seed, not learned
odd-unknown = The network that was trained here knows no token of this sentence: it reads [UNK] throughout. The sidebar has a sentence that it knows.
odd-language = **English only:** this model learnt from English, and the sentence looks like another language. What it computes for it means little.
odd-overflow = **Overflow**: numbers have left the range of 32-bit floats; they stand as NaN or ∞.
odd-cut = The sentence is cut after { $kept } tokens; { $cut } more are left out. { $why }

hide = Hide a word
    .how = Press a word: the encoder fills in what it thinks stood there.
answer-depth = **The answer by layer**, read by the same output head:

code = To run it on your own computer, press **Take it with you** in the sidebar.
