# The sidebar: text, architecture, weights, what experts set, and what can be taken along.

undo = Undo
    .help = Brings back what was chosen before your last change.
folded = Settings of the other pages
preset = Start from
    .placeholder = a named architecture …
    .help = Sets the architecture and the tokens to a tutorial's or a paper's, with random weights. A tutorial with an example text brings that too.
reset = Reset everything
present = Present
    .help = Large type and one large chart for a projector. In a lesson the arrow keys go on.
present-end = Leave presentation
presenter = Pages, and leaving the presentation
lines = Each line is a sentence of its own, in code too: no token sees another line.
tokens = Tokens, masks and chance
front = Your sentence, in English
    .show = Show attention
saved-link = Open a saved link
    .help = A link that is too long to be copied is saved as a file. Everything is set as in the link.
    .wrong = A saved link is one line that begins with https:// or http://.

label-n_layers = layers
help-n_layers = Encoder blocks, one after the other.
label-n_heads = heads
help-n_heads = Attention patterns in each layer, side by side.
label-d_model = width
help-d_model = Numbers that stand for one token.
label-positions = positions
help-positions = How the encoder is told the order of the words.
label-norm_placement = norm place
help-norm_placement = Before each attention and feed-forward part, after it, or both.
label-norm = norm kind
help-norm = What keeps the vectors' lengths in range; none leaves it out.
label-residual = residuals
help-residual = Each part adds to its input instead of replacing it.

minilm-moves = MiniLM's shape is fixed: moving a control opens a small encoder, trained on simple English.
text-replaced = Your text was replaced by one that this small encoder knows. **Undo** brings your text and MiniLM back.
minilm-train = MiniLM is too large to train here: the controls show its kind in small, which is trained instead.

nearest = :orange-badge[nobody has trained this one yet] The page shows the nearest that is there: **{ $name }**.
new-words = :orange-badge[{ $n } of { $tokens } tokens are new to it] { $words }. Sentences that it knows:
too-long = Training would take about { $time }; this server trains for { $most } at most.
train = Train it, about { $time }

not-trained = :orange-badge[random weights] Nothing was trained in this session yet.
trained = **{ $task }**, trained for { $step } steps: { PERCENT($right) } of the validation set is right; a simple rule reaches { PERCENT($rule) }. { $origin } Moving a control gives an untrained network of that shape.
unknown = { $n } of { $tokens } tokens are unknown to it and read as [UNK]. It knows { $knows }.
example = Use an example of the task

hub = A model of the Hugging Face hub
    .placeholder = open a model …
    .help = The models that this server offers. Opening one for the first time downloads it, which can take a minute.
upload = A state_dict, saved as safetensors
    .help = At most 200 MB. It stays in your session, is shown to nobody else, and is gone when you close it or leave. Of a Hugging Face checkpoint, add config.json and tokenizer.json.
no-upload = :orange-badge[random weights] until a file is open. To save one (`pip install safetensors`):
no-weights = Choose a safetensors file; config.json and tokenizer.json may come with it.
close = Close this file
file = **{ $file }**: names of { $title }, { $tensors } tensors, { $n } numbers.
file-open = It does not say **{ $settings }**: set them as in your code.
file-vectors = It has no token table: tokens are random vectors, drawn from seed { $seed }.
reading = Your file does not say which word has which id. Your text is read with
reading-tokenizer = the tokenizer of the sidebar
reading-vocabulary = my own vocabulary
reading-ids = ids that I type as numbers
read-ids = Write ids from 0 to { $last } with blanks between them, one sentence a line.
vocabulary = Its vocabulary: one word a line, or JSON
    .help = The first line is the word with id 0. JSON gives each word its id, as `json.dump(word_to_id, file)` writes it. At most 2 MB, kept in your session.
    .told = **{ $file }**: { $words } words for { $rows } rows.

code = Code for what is on the screen, which ends by comparing its numbers with those here.
    .package = It needs the playground's package: `pip install .` in the folder of its code.
    .changes = The changes of What if are not in this code; the copied link and the tab Data have them.
    .weights = Its weights are in no package: put `{ $file }` into the same folder.
data = Arrays of this sentence's run
    .help = Named as in the model's trace; {"{"}i{"}"} is the layer. scores: before the softmax. pattern: after it. resid_mid: the stream between attention and feed-forward.
    .size = { $n } numbers, **{ $size }** before compression; at most { $most } fit. The file also says what it is of: link, configuration, seed, weights, changes (`do`), tokens, versions and a hash of the weights.
    .no-text = Type a sentence into “Your text”, to take its run along.
