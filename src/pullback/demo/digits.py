"""The second job of the demo: handwritten digits, from the images to a picture of the training.

    run(Path("digits.png"), print)

A network with one hidden layer learns four fifths of scikit-learn's 1,797 images of 8 x 8 pixels; the last fifth,
after shuffling, is only looked at.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from tqdm import tqdm

import pullback as pb

from .digits_model import gradient_by_hand, loss, scores, train
from .report import median_seconds

matplotlib.use("Agg")

Array = NDArray[np.float64]
Parameters = tuple[Array, Array, Array, Array]
# Largest difference of the two gradients, relative to the largest number of the array, that rounding explains.
ROUNDING = 1e-10


class DigitsError(RuntimeError):
    """The compiled program and NumPy disagree; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Images:
    """Rows of pixels between 0 and 1 with their digits: those to learn from and those held out."""

    train: Array
    train_labels: NDArray[np.int64]
    held_out: Array
    held_out_labels: NDArray[np.int64]


@dataclass(slots=True)
class History:
    """What happened in each epoch: mean loss of its minibatches, accuracies after it, seconds in compiled code."""

    losses: list[float] = field(default_factory=list)
    train_accuracies: list[float] = field(default_factory=list)
    held_out_accuracies: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def run(picture: Path, say: Callable[[str], None], epochs: int = 40) -> None:
    """Train, report through `say`, and draw the course of the training into `picture`.

    DigitsError where compiled and hand-written gradients differ, OSError where the picture cannot be written.
    """
    rng = np.random.default_rng(0)
    images = read_images(rng)
    say(f"{len(images.train)} images of digits to learn from, {len(images.held_out)} held out")
    parameters = first_parameters(rng, images.train.shape[1], hidden=64, classes=10)
    gradient_lines = _gradient_lines(parameters, images)
    history = fit(parameters, images, rng, epochs)
    say("\n".join(_accuracy_lines(history)))
    say("\n".join(gradient_lines))
    _draw(history, picture)
    say(f"wrote {picture}")


def read_images(rng: np.random.Generator) -> Images:
    """The images in random order, cut at four fifths."""
    pixels, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(labels))
    pixels, labels = pixels[order] / 16.0, labels[order].astype(np.int64)
    cut = len(labels) - len(labels) // 5
    return Images(pixels[:cut], labels[:cut], pixels[cut:], labels[cut:])


def first_parameters(rng: np.random.Generator, pixels: int, hidden: int, classes: int) -> Parameters:
    """Weights of a size that keeps the variance from layer to layer, and no bias."""
    w1 = rng.standard_normal((pixels, hidden)) / np.sqrt(pixels)
    w2 = rng.standard_normal((hidden, classes)) / np.sqrt(hidden)
    return w1, np.zeros(hidden), w2, np.zeros(classes)


def fit(
    parameters: Parameters, images: Images, rng: np.random.Generator, epochs: int, batch: int = 32, rate: float = 0.2
) -> History:
    """Train `parameters` in place, one compiled call for each epoch."""
    epoch = pb.jit(train)
    history = History()
    with tqdm(range(epochs), desc="training", unit=" epochs") as bar:
        for _ in bar:
            order = rng.permutation(len(images.train))
            began = time.perf_counter()
            losses = epoch(parameters, images.train, images.train_labels, order, batch, rate)
            history.seconds.append(time.perf_counter() - began)
            history.losses.append(float(np.mean(losses)))
            history.train_accuracies.append(accuracy(parameters, images.train, images.train_labels))
            history.held_out_accuracies.append(accuracy(parameters, images.held_out, images.held_out_labels))
            bar.set_postfix_str(
                f"loss {history.losses[-1]:.4f}, held out {history.held_out_accuracies[-1]:.1%}", refresh=False
            )
    return history


def accuracy(parameters: Parameters, images: Array, labels: NDArray[np.int64]) -> float:
    """The share of images whose largest score is that of their digit."""
    return float(np.mean(np.argmax(scores(parameters, images), axis=1) == labels))


def _accuracy_lines(history: History) -> list[str]:
    # The first epoch contains compilation.
    seconds = float(np.median(history.seconds[1:])) if len(history.seconds) > 1 else history.seconds[0]
    return [
        "",
        f"accuracy on the held-out fifth {history.held_out_accuracies[-1]:.2%}, on the others "
        f"{history.train_accuracies[-1]:.2%}",
        f"first epoch {history.seconds[0]:.2f} s (with compilation), then {seconds * 1e3:.2f} ms each",
    ]


def _gradient_lines(parameters: Parameters, images: Images) -> list[str]:
    """Times of one gradient, for a minibatch and for all images, after both sides were found equal."""
    lines = ["", f"{'one gradient':16} {'NumPy by hand':>14} {'compiled':>12} {'ratio':>7} {'difference':>11}"]
    for count in (32, len(images.train)):
        difference, plain, ours = _compare((parameters, images.train[:count], images.train_labels[:count]))
        if not difference <= ROUNDING:
            raise DigitsError(f"compiled and hand-written gradients of {count} images differ by {difference:.1e}")
        times = f"{plain * 1e6:11.1f} us {ours * 1e6:9.1f} us {plain / ours:6.1f}x"
        lines.append(f"{f'{count} images':16} {times} {difference:11.1e}")
    return [*lines, ""]


def _compare(data: tuple[Parameters, Array, NDArray[np.int64]]) -> tuple[float, float, float]:
    """How far the gradients by hand and compiled differ, and the seconds that one of either takes."""
    by_hand: Callable[..., tuple[float, Parameters]] = gradient_by_hand
    compiled: Callable[..., tuple[float, Parameters]] = pb.value_and_grad(loss)
    difference = _difference(by_hand(*data), compiled(*data))
    return difference, median_seconds(lambda: by_hand(*data)), median_seconds(lambda: compiled(*data))


def _difference(by_hand: tuple[float, Parameters], compiled: tuple[float, Parameters]) -> float:
    """The largest difference in value and gradient, relative to the largest number of its array."""
    pairs = [(np.asarray(by_hand[0]), np.asarray(compiled[0])), *zip(by_hand[1], compiled[1], strict=True)]
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in pairs)


def _draw(history: History, picture: Path) -> None:
    epochs = np.arange(1, len(history.losses) + 1)
    figure = Figure(figsize=(9.0, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.semilogy(epochs, history.losses, color="tab:blue")
    left.set_title("Loss, mean of the minibatches")
    right.plot(epochs, 100.0 * np.array(history.train_accuracies), color="tab:blue", label="learned from")
    right.plot(epochs, 100.0 * np.array(history.held_out_accuracies), color="tab:red", label="held out")
    right.axhline(95.0, color="grey", linewidth=0.8, linestyle="--")
    right.set_title("Accuracy, per cent")
    right.set_ylim(bottom=80.0, top=100.5)
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.set_xlabel("epoch")
        axes.margins(x=0.01)
    figure.savefig(picture, format="png", dpi=150)
