"""The field's words as this app uses them, and a panel that explains them on every page."""

import streamlit as st

GLOSSARY = {
    "activation": "A function between the two linear maps of the feed-forward network, such as ReLU or GELU. Without "
    "it, the two would be one linear map.",
    "attention pattern": "The weights of one head: how much each query attends to each key. Each query's weights are "
    "positive or zero, and add up to 1.",
    "block": "One layer of the encoder: attention, then a feed-forward network, each with a residual connection and a "
    "norm unless these are switched off.",
    "causal mask": "A mask that hides later tokens, so that a token attends only to itself and to earlier ones.",
    "cross-attention": "Attention from a decoder to an encoder: queries come from the decoder, keys and values from "
    "the encoder's output.",
    "d_head": "The number of features that one head works on: d_model divided by the number of heads.",
    "d_model": "The number of features of each token's vector in the residual stream.",
    "embedding": "The vector that stands for a token before the first block. It begins as the row of a table at the "
    "token's id; a vector for the position can be added.",
    "entropy": "A measure of how spread out a row of weights is, in bits. It is 0 for all weight on one token, and "
    "log₂ n for equal weights on n tokens.",
    "feed-forward": "A small network in each block that works on each token by itself: a linear map to d_ff features, "
    "an activation, a linear map back.",
    "FLOP": "A floating-point operation: one addition or one multiplication of two numbers.",
    "gradient": "How strongly the loss changes with a parameter or a vector, and in which direction. Training follows "
    "it downhill.",
    "head": "One of several attention computations that run side by side in a layer, each with its own queries, keys "
    "and values.",
    "learning rate": "How far a training step moves the parameters. A large one can overshoot, a small one takes long.",
    "logits": "One number for each possible answer, such as each token of the vocabulary. A softmax turns them into "
    "probabilities.",
    "loss": "How wrong a model's predictions are; training makes it smaller. The mean of −ln p of the right answers "
    "is in nats: 0.69 nats are one coin toss.",
    "mask": "Marks which keys a query may attend to. A masked key gets weight 0.",
    "norm": "A step that rescales each token's vector. Layer norm subtracts the mean and divides by the standard "
    "deviation; RMS norm only divides by the root mean square.",
    "padding": "Filler tokens that make all sentences of a batch equally long. They are masked.",
    "parameter": "A number in the model that training adjusts, such as an entry of a weight matrix.",
    "pre-norm and post-norm": "Where a norm stands in a block. Pre-norm: at the input of attention and feed-forward. "
    "Post-norm: after their output was added to the stream.",
    "query, key, value": "Three vectors that a head makes for each token. A query is compared with all keys; the "
    "result decides how much of each value is taken.",
    "regulariser": "A change to training that is meant to help on data not seen in training, such as dropout or weight "
    "decay.",
    "residual connection": "Adds the input of attention or feed-forward to its output, so that each changes the vector "
    "instead of replacing it.",
    "residual stream": "The vectors that pass from block to block, one for each token.",
    "rollout": "An estimate of how much of each input token has reached a position: the attention of all layers up to "
    "there, multiplied.",
    "scalar norm": "The norm of tutorial A · Implementing an Encoder: one gain and bias for all features.",
    "score": "The dot product of a query and a key, divided by √d_head. A softmax turns a query's scores into weights.",
    "softmax": "Turns numbers into positive weights that add up to 1; a larger number gets a larger weight.",
    "token": "A piece of text that the model reads as one unit: a word, a part of one, or a character.",
    "vocabulary": "All tokens that a model knows; a token's id is its number in this list.",
}
"""What each term means in this app, in alphabetical order."""


def draw_glossary() -> None:
    """An expander with every term; its text is sent only while it is open."""
    panel = st.expander("Glossary", icon=":material/menu_book:", key="glossary", on_change="rerun")
    if panel.open:
        panel.markdown("\n\n".join(f"**{term}**: {meaning}" for term, meaning in GLOSSARY.items()))
