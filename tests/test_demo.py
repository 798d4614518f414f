"""The demo: models against SciPy and by hand, derivatives against differences, known results, good and bad files."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pullback as pb
from pullback.cli import main
from pullback.demo import digits, digits_model
from pullback.demo.data import DataError, read_observations, shipped_data
from pullback.demo.fit import HOPELESS, FitError, maximise_likelihood, standard_errors, starting_points
from pullback.demo.lotka_volterra import negative_log_likelihood
from pullback.demo.report import finite_differences, noise_scales, run, trajectory

THETA = np.log([0.55, 0.028, 0.024, 0.80, 34.0, 5.9])
# Maximum-likelihood estimates and their standard errors, computed in plain Python by finite differences.
ESTIMATES = [0.540014, 0.0271561, 0.0237020, 0.796599, 34.59915, 5.84374]
ERRORS = [0.05486, 0.003572, 0.003048, 0.07795, 2.596, 0.4493]


@pytest.fixture(scope="module")
def observations():
    return read_observations(shipped_data())


@pytest.fixture(scope="module")
def data(observations):
    return observations.times, observations.prey, observations.predator


def solution(theta, times):
    alpha, beta, delta, gamma, x, y = np.exp(theta)

    def slopes(_, state):
        return (alpha - beta * state[1]) * state[0], (delta * state[0] - gamma) * state[1]

    return solve_ivp(slopes, (times[0], times[-1]), (x, y), t_eval=times, rtol=1e-11, atol=1e-11).y


def test_the_integrator_agrees_with_scipy(observations):
    ours = np.array(trajectory(THETA, observations.times))
    assert np.max(np.abs(ours / solution(THETA, observations.times) - 1.0)) < 1e-6


def test_the_likelihood_in_plain_python(observations, data):
    residuals = np.log([observations.prey, observations.predator]) - np.log(solution(THETA, observations.times))
    expected = 0.5 * len(data[0]) * np.sum(np.log(np.mean(residuals**2, axis=1)))
    assert negative_log_likelihood(THETA, *data) == pytest.approx(expected, rel=1e-6)


def test_value_and_gradient_compiled(data):
    value, gradient = pb.value_and_grad(negative_log_likelihood)(THETA, *data)
    plain, differences = finite_differences(THETA, data)
    assert value == pytest.approx(plain, rel=1e-12)
    assert gradient == pytest.approx(differences, rel=1e-5)


def test_hessian_compiled(data):
    hessian = np.asarray(pb.hessian(negative_log_likelihood)(THETA, *data))
    gradient = pb.grad(negative_log_likelihood)
    width = 1e-4
    differences = [
        (gradient(THETA + offset, *data) - gradient(THETA - offset, *data)) / (2.0 * width)
        for offset in width * np.eye(6)
    ]
    assert np.max(np.abs(hessian - differences)) < 1e-4 * np.max(np.abs(hessian))
    assert hessian == pytest.approx(hessian.T, rel=1e-9, abs=1e-9 * np.max(np.abs(hessian)))


def test_the_whole_demo_on_the_shipped_data(tmp_path, capsys):
    picture = tmp_path / "fit.png"
    run(shipped_data(), picture, print)
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()]
    table = {row[0]: row for row in rows if row}
    for name, estimate, error in zip(("alpha", "beta", "delta", "gamma"), ESTIMATES, ERRORS):
        assert float(table[name][1]) == pytest.approx(estimate, rel=1e-3)
        assert float(table[name][2]) == pytest.approx(error, rel=1e-2)
    assert "finite differences agree" in printed.out
    assert "start 5 of 5" in printed.err
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_estimates_recover_the_truth_in_other_units(tmp_path):
    """Thirteen months of another predator and prey, without noise but for the third digit."""
    truth = np.log([0.9, 0.3, 0.2, 1.1, 4.0, 2.0])
    times = np.linspace(0.3, 13.3, 27)
    rows = zip(times, *trajectory(truth, times))
    file = tmp_path / "plankton.csv"
    file.write_text("month,algae,rotifers\n" + "".join(f"{t:.3f},{x:.3g},{y:.3g}\n" for t, x, y in rows))
    observations = read_observations(file)
    data = (observations.times, observations.prey, observations.predator)
    value_and_grad = pb.value_and_grad(negative_log_likelihood)
    starts = starting_points(observations)
    fit = maximise_likelihood(lambda theta: value_and_grad(theta, *data), starts, lambda *_: None)
    assert np.exp(fit.theta) == pytest.approx(np.exp(truth), rel=1e-2)
    assert max(noise_scales(fit.theta, observations)) < 5e-3


def test_points_where_the_model_fails_are_passed_over():
    def value_and_gradient(theta):
        if theta[0] > 1.0:
            raise OverflowError("too far")
        return float((theta[0] + 1.0) ** 2), np.array([2.0 * (theta[0] + 1.0)])

    fit = maximise_likelihood(value_and_gradient, [np.array([2.0]), np.array([0.5])], lambda *_: None)
    assert fit.theta == pytest.approx([-1.0], abs=1e-6)
    assert fit.value < HOPELESS


def test_no_point_at_all():
    def value_and_gradient(theta):
        raise ValueError("never")

    with pytest.raises(FitError, match="any of the starting points"):
        maximise_likelihood(value_and_gradient, [np.zeros(1)], lambda *_: None)


def test_standard_errors_by_the_delta_method():
    theta = np.log([2.0, 3.0])
    assert standard_errors(theta, np.diag([4.0, 25.0])) == pytest.approx([1.0, 0.6])
    assert np.all(np.isnan(standard_errors(theta, np.diag([4.0, -1.0]))))
    assert np.all(np.isnan(standard_errors(theta, np.diag([4.0, np.nan]))))


ROWS = "".join(f"{year},{10 + year % 7},{5 + year % 3}\n" for year in range(1900, 1910))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("year,hare\n1900,1\n", "line 1: expected three columns (time, prey, predator), found 2"),
        (ROWS, "line 1: expected a header with the names of the three columns, found numbers"),
        ("year,hare,lynx\n1900,3\n" + ROWS, "line 2: expected three columns, found 2"),
        ("year,hare,lynx\n1899,three,4\n" + ROWS, "line 2: 'three' is not a number"),
        ("year,hare,lynx\n1899,,4\n" + ROWS, "line 2: '' is not a number"),
        ("year,hare,lynx\n\n1899,3,0\n" + ROWS, "line 3: populations must be positive, found 0"),
        ("year,hare,lynx\n1899,inf,1\n" + ROWS, "line 2: numbers must be finite"),
        ("year,hare,lynx\n" + ROWS + "1909,3,4\n", "line 12: times must increase, but 1909 follows 1909"),
        ("year,hare,lynx\n1,2,3\n2,3,4\n", "six parameters need at least 6 rows of data, found 2"),
        ("year,hare,lynx\n", "six parameters need at least 6 rows of data, found 0"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path, text, message):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        read_observations(file)
    assert str(caught.value) == f"{file}: {message}"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: No such file"):
        read_observations(tmp_path / "none.csv")
    with pytest.raises(DataError, match="Is a directory"):
        read_observations(tmp_path)
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\xff\xfe\x00")
    with pytest.raises(DataError, match="not a CSV text file"):
        read_observations(picture)


def test_forms_of_csv_that_spreadsheets_write(tmp_path, observations):
    lines = shipped_data().read_text().splitlines()
    file = tmp_path / "windows.csv"
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(line.replace(",", " , ") for line in lines).encode() + b"\r\n\r\n")
    assert np.array_equal(read_observations(file).prey, observations.prey)


def test_the_example_is_the_short_form(capsys):
    example = Path(__file__).resolve().parents[1] / "examples" / "lotka_volterra.py"
    exec(compile(example.read_text(), str(example), "exec"), {"__name__": "__main__", "__file__": str(example)})
    rows = {row[0]: row for row in map(str.split, capsys.readouterr().out.splitlines())}
    for name, estimate in zip(("alpha", "beta", "delta", "gamma", "hares", "lynxes"), ESTIMATES):
        assert float(rows[name][1]) == pytest.approx(estimate, rel=1e-3)


@pytest.fixture
def digits_case():
    """Images, labels and parameters of a small network."""
    rng = np.random.default_rng(3)
    images = digits.read_images(rng)
    return digits.first_parameters(rng, 64, 12, 10), images.train[:50], images.train_labels[:50]


def test_digits_gradient_by_hand(digits_case):
    parameters, images, labels = digits_case
    value, slopes = digits_model.gradient_by_hand(*digits_case)
    assert value == pytest.approx(digits_model.loss(*digits_case), rel=1e-13)
    rng = np.random.default_rng(4)
    directions = [rng.standard_normal(p.shape) for p in parameters]
    width = 1e-5
    above, below = (
        digits_model.loss(tuple(p + step * d for p, d in zip(parameters, directions)), images, labels)
        for step in (width, -width)
    )
    expected = sum(float(np.sum(s * d)) for s, d in zip(slopes, directions))
    assert (above - below) / (2.0 * width) == pytest.approx(expected, rel=1e-7)


def test_digits_gradient_compiled(digits_case):
    value, slopes = pb.value_and_grad(digits_model.loss)(*digits_case)
    expected, by_hand = digits_model.gradient_by_hand(*digits_case)
    assert value == pytest.approx(expected, rel=1e-13)
    for slope, other in zip(slopes, by_hand, strict=True):
        assert slope == pytest.approx(other, rel=1e-10, abs=1e-10 * np.max(np.abs(other)))


def test_digits_epoch_compiled_changes_the_parameters_as_numpy_does(digits_case):
    parameters, images, labels = digits_case
    by_hand = tuple(p.copy() for p in parameters)
    order = np.random.default_rng(5).permutation(len(images))
    expected = []
    for start in range(0, len(order), 16):
        rows = order[start : start + 16]
        value, slopes = digits_model.gradient_by_hand(by_hand, images[rows], labels[rows])
        expected.append(value)
        for parameter, slope in zip(by_hand, slopes, strict=True):
            parameter -= 0.3 * slope
    losses = pb.jit(digits_model.train)(parameters, images, labels, order, 16, 0.3)
    assert losses == pytest.approx(np.array(expected), rel=1e-11)
    for parameter, other in zip(parameters, by_hand, strict=True):
        assert parameter == pytest.approx(other, rel=1e-10, abs=1e-11)


def test_the_whole_demo_on_digits(tmp_path, capsys):
    picture = tmp_path / "digits.png"
    assert main(["demo", "digits", "--output", str(picture)]) == 0
    printed = capsys.readouterr()
    (line,) = [line for line in printed.out.splitlines() if "held-out fifth" in line]
    assert float(line.split("fifth ")[1].split("%")[0]) >= 95.0
    assert "NumPy by hand" in printed.out
    assert "40/40" in printed.err
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_digits_held_out_is_a_fifth_and_never_learned_from():
    images = digits.read_images(np.random.default_rng(0))
    assert len(images.held_out) == 1797 // 5
    assert len(images.train) + len(images.held_out) == 1797


def test_gradients_that_differ_stop_the_digits(tmp_path, monkeypatch, capsys):
    def wrong(parameters, images, labels):
        value, slopes = digits_model.gradient_by_hand(parameters, images, labels)
        return value, (slopes[0], 1.001 * slopes[1], *slopes[2:])

    monkeypatch.setattr(digits, "gradient_by_hand", wrong)
    assert main(["demo", "digits", "--output", str(tmp_path / "digits.png")]) == 2
    error = capsys.readouterr().err
    assert "compiled and hand-written gradients of 32 images differ by 1.0e-03" in error


def test_no_folder_for_the_picture_of_digits(tmp_path, capsys):
    assert main(["demo", "digits", "--output", str(tmp_path / "none" / "digits.png")]) == 2
    assert "no such folder" in capsys.readouterr().err
