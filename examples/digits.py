"""A network learns scikit-learn's images of digits, a whole epoch in one compiled call: the short form.

Run with `python examples/digits.py`; `pullback demo digits` does the same with times and a picture. The network and its
training (plain NumPy) are `pullback/demo/digits_model.py`.
"""

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import pullback as pb
from pullback.demo.digits_model import scores, train

rng = np.random.default_rng(0)
images, labels = load_digits(return_X_y=True)
shuffled = rng.permutation(len(images))
images, labels = images[shuffled] / 16.0, labels[shuffled].astype(np.int64)
count = len(images) * 4 // 5

parameters = (
    rng.standard_normal((64, 64)) / np.sqrt(64),
    np.zeros(64),
    rng.standard_normal((64, 10)) / np.sqrt(64),
    np.zeros(10),
)
epoch = pb.jit(train)
for _ in (bar := tqdm(range(40), unit=" epochs")):
    losses = epoch(parameters, images[:count], labels[:count], rng.permutation(count), 32, 0.2)
    bar.set_postfix_str(f"loss {np.mean(losses):.4f}")

guesses = np.argmax(scores(parameters, images[count:]), axis=1)
print(f"right on {np.mean(guesses == labels[count:]):.2%} of {len(guesses)} images held out")
