# What stands around every page: notices, the run, the pinned settings, changes, saving.

no-text = Type a sentence into “Your text”, and this page shows what the encoder does with it.
vectors = words are vectors drawn from the seed, not learned
odd-unknown = The network that was trained here knows no token of this sentence: it reads [UNK] throughout. The sidebar has a sentence that it knows.
odd-language = **English only:** this model learnt from English, and this sentence is mostly { $script }. What it computes for it means little.
odd-overflow = **Overflow**: numbers have left the range of 32-bit floats; they stand as NaN or ∞.
odd-cut = The sentence is cut after { $kept } tokens; { $cut } more are left out. { $why }

hide = Hide a word
    .how = Press a word: the encoder fills in what it thinks stood there.

code = To run it on your own computer, press **Take it with you** in the sidebar.

# What the menu says of each page.
purpose-overview = Experiments with your sentence, and its way through the encoder, box by box.
purpose-attention = Every head's attention, one head large, and what can be read off it.
purpose-what-if = Parts of the computation switched off, cut or replaced, and what followed.
purpose-similarity = Which sentences the encoder puts close together, and which words do that.
purpose-compare = Two settings side by side: what a change changes, and where.
purpose-exercises = Say what will happen, then see what comes out: exercises whose answers are computed.
purpose-lessons = Words, pages and exercises, step by step: seven lessons, or one of your own as a link.
purpose-diagnosis = Your own code's tensors beside the model's: where they part, and which mistake explains it.
purpose-bug-lab = An encoder that runs and is wrong: find its mistake with few tests.
purpose-tutorials = The five tutorials side by side: where they differ, what it does, and what went wrong.
purpose-results = For teachers: what a class found in a lesson, from the codes that it hands in.
purpose-step-by-step = One layer, one head, one token: every number on the way.
purpose-norms = How long the vectors are, layer by layer, and what the norms do to them.
purpose-positions = How words are told apart by their place, and what is lost without.
purpose-parameters = Where the parameters, the work and the memory go.
purpose-encoder-decoder = How a decoder reads what the encoder wrote, and what comes next.
purpose-parts = What each part of an encoder is for: trained encoders with one setting changed, or from 2017 to today.
purpose-training = A small transformer learns a task while you watch, in the architecture you choose.
purpose-regularisers = Ten ways to train that are meant to help: what each changes, measured in runs of your own.
purpose-gradient-flow = What norms and residual connections do to a gradient on its way back.

pinned = **Pinned.** Now change any setting: the charts show both.
compared = **Compared:** { $before } and { $now }. All else is the same.
pinned-fails = The pinned settings cannot be run: { $why }
    .text = they have no text.
do-pin = Pin this, to compare
help-pin = Keeps all settings of the sidebar as they are. Then change any of them: the charts show both, before and after.
do-pin_swap = Swap
help-pin_swap = The pinned settings go into the sidebar, and those of the sidebar are pinned.
do-unpin = Unpin
help-unpin = Pages show the present settings alone.

do-followed = What followed?
help-followed = Opens the page What if at what your changes have moved.
changes-full = A link holds at most { $most } changes: undo some above first.
changes-wait = Waits until there is a sentence that the model can run.
no-changes = This page shows the model without these changes.

save = Numbers and pictures
too-many = Its numbers are too many for a CSV file.
embed = As a live embed. The operator has to allow your site: `PLAYGROUND_FRAME_ANCESTORS` is now `{ $sites }`.
way-out = [Open in the playground]({ $link })
no-chart = The chart that this frame asks for is not on the page now. [Open in the playground]({ $link })
file-busy = Many people are computing right now; open { $file } again in a few seconds.
file-fails = { $file } can't be used. { $reason }

moved = Your choice is out of range: { $moved }.

run-waiting = Waiting: number { $position } in the queue. It starts by itself, on any page.
run-stopping = Stopping after the current step …
run-stopped = Stopped: { $at }.
run-never = Stopped before the first step.
run-starts = Getting ready.
run-done = Done: { $runs } runs in { $time }.
run-changed = **Settings have changed since this run. Start** trains with the new ones.
run-elsewhere = What you started on { $where } goes on. Only one thing runs at a time: stop it there first.
run-shared = Shared with { $others } other visitors; Stop takes only you out of it.
