"""The words of the small English, by what they do."""

ANIMALS = {
    "sg": ("animal", "dog", "cat", "horse", "bird", "cow"),
    "pl": ("animals", "dogs", "cats", "horses", "birds", "cows"),
}
PEOPLE = {
    "sg": ("boy", "girl", "king", "queen", "man", "woman", "father", "mother", "brother", "sister"),
    "pl": ("boys", "girls", "kings", "queens", "men", "women", "fathers", "mothers", "brothers", "sisters"),
}
PLACES = {
    "sg": ("street", "river", "garden", "house", "road", "bridge", "field", "room"),
    "pl": ("streets", "rivers", "gardens", "houses", "roads", "bridges", "fields", "rooms"),
}
THINGS = {
    "sg": ("key", "book", "box", "cup", "door", "ring", "coat", "apple"),
    "pl": ("keys", "books", "boxes", "cups", "doors", "rings", "coats", "apples"),
}
LIVING = {number: ANIMALS[number] + PEOPLE[number] for number in ("sg", "pl")}

GENDER = {word: ("he", "she")[i % 2] for i, word in enumerate(PEOPLE["sg"])}

BLAMES_SUBJECT = ("called", "followed", "visited", "asked", "surprised")
"""*Because he* is the one who did it."""
BLAMES_OBJECT = ("thanked", "praised", "blamed", "admired", "punished")
"""The one to whom it was done."""

PARTICIPLES = {"bit": "bitten", "hit": "hit", "chased": "chased", "pushed": "pushed", "hunted": "hunted"}

FEELINGS = ("tired", "hungry", "afraid", "lonely", "weak")
"""What only the living are."""
EXTENTS = ("wide", "long", "dark", "narrow", "crowded")
"""What only places are."""
STATES = ("new", "heavy", "clean", "rusty")
"""What only things are."""
SIZES = ("old", "small", "big", "young")

OPPOSITES = {"full": "empty", "empty": "full", "open": "closed", "closed": "open"}

COLOURS = ("red", "green", "blue")
NEAR = ("near", "behind", "under", "with")
PRESENT = ("today", "now")
PAST = ("yesterday", "once")
MOVES = {"cross": "crossed", "enter": "entered", "leave": "left"}
KNOWS = ("knows", "likes")
COMPARED = {"bigger": "biggest", "smaller": "smallest"}
