"""
4. Text with a vectorizer
=========================

Which words say that a function is about files, the network or e-mail? The texts are documentation
strings of Python's standard library, and the labels are what their modules are for.
"""

# %%
# Texts
# -----

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from steelyard import MEstimate, RuleSetClassifier, load_docstrings

data = load_docstrings(words=False)
texts_train, texts_test, Y_train, Y_test = train_test_split(data.X["text"], data.Y, random_state=0)
print(texts_train.iloc[0])

# %%
# A pipeline whose rules have words
# ---------------------------------
# The rules are learned from the matrix that the vectorizer makes. ``set_output`` cannot name the
# columns of a sparse matrix, so ``feature_names`` passes the words on. ``presence_only`` keeps
# words that must be *absent* out of the rules: on text, such conditions are many and say little.

vectorizer = CountVectorizer(binary=True, min_df=8, token_pattern="[a-z]{3,}", stop_words="english")
words_train = vectorizer.fit_transform(texts_train)
clf = RuleSetClassifier(
    MEstimate(m=8),
    phi=0.15,
    min_rules_per_label=3,
    presence_only=True,
    n_candidates=10_000,
    random_state=0,
)
clf.fit(words_train, Y_train, feature_names=vectorizer.get_feature_names_out())
print(clf.theory_)

# %%
# Predict new texts
# -----------------

pipeline = make_pipeline(vectorizer, clf)
for text in (
    "Open a connection to the server and send the message.",
    "Extract all members of the archive into the current directory.",
):
    predicted = pipeline.predict([text])[0]
    print(f"{text}\n  → {', '.join(Y_train.columns[predicted == 1]) or 'nothing'}")

# %%
# How good is it?
# ---------------

theory = clf.theory_
measures = theory.evaluate(vectorizer.transform(texts_test), Y_test).measures
print({name: round(float(measures[name]), 3) for name in ("f1_micro", "hamming", "subset")})
figure = theory.plot(max_labels=4)
