"""Whole numerical programs: root finding, integration, series, statistics, finance, dynamics, linear algebra."""

import math

import numpy as np

from programs import program

DATA = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.25, 0.0, -0.15])
X = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
Y = np.array([1.1, 1.6, 2.2, 2.4, 3.1])
SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])


@program(args=[(2.0,), (0.5,), (1e4,)])
def newton_square_root(a):
    x = a if a > 1.0 else 1.0
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@program(args=[(0.3,), (0.9,)], orders=1)
def newton_kepler(e):
    anomaly = 1.2
    x = anomaly
    for _ in range(30):
        step = (x - e * math.sin(x) - anomaly) / (1.0 - e * math.cos(x))
        x -= step
        if abs(step) < 1e-14:
            break
    return x * x


@program(args=[(3.0, 0.0, 3.0)], kink=True)
def bisection_midpoint(target, lo, hi):
    for _ in range(20):
        mid = 0.5 * (lo + hi)
        if mid * mid * mid < target:
            lo = mid
        else:
            hi = mid
    return mid * target


@program(args=[(2.0, 1.0, 2.0)])
def secant(target, x0, x1):
    n = 0
    while abs(x1 - x0) > 1e-10 and n < 50:
        f0 = x0 * x0 - target
        f1 = x1 * x1 - target
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        n += 1
    return x1


@program(args=[(0.4, 1.3, 20)], argnums=(0, 1))
def logistic_map(x, r, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


@program(args=[(3.7, 0.3, 12)], argnums=(0, 1), scale=1e5)
def chaotic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


@program(args=[(1.5, 0.5)], argnums=(0, 1))
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-14:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


@program(args=[(0.7, 12), (0.7, 0)])
def continued_fraction(x, n):
    value = x
    for i in range(n, 0, -1):
        value = i + x / (1.0 + value)
    return value


@program(args=[((1.0, -2.0, 0.5, 3.0), 0.7)], argnums=(0, 1))
def horner(coefficients, x):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


@program(args=[(np.array([1.0, -2.0, 0.5, 3.0]), 0.7)], argnums=(0, 1))
def clenshaw(c, x):
    b1 = 0.0
    b2 = 0.0
    for i in range(len(c) - 1, 0, -1):
        b1, b2 = 2.0 * x * b1 - b2 + c[i], b1
    return x * b1 - b2 + c[0]


@program(args=[(0.9,), (0.1,)])
def series_until_small(x):
    term = 1.0
    total = 0.0
    n = 0
    while abs(term) > 1e-16:
        total += term
        n += 1
        term = term * x / n
    return total


@program(args=[(0.5,), (2.0,)], scale=10.0)
def lambert_w(x):
    w = math.log1p(x)
    for _ in range(12):
        e = math.exp(w)
        f = w * e - x
        w = w - f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0))
    return w


@program(args=[(27,), (1,), (97,)], argnums=())
def collatz(n):
    steps = 0
    highest = n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        highest = max(highest, n)
        steps += 1
    return steps, highest


@program(args=[(252, 105), (17, 5), (0, 9)], argnums=())
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program(args=[(50,), (2,), (1,)], argnums=())
def count_primes(n):
    count = 0
    for candidate in range(2, n):
        for divisor in range(2, candidate):
            if divisor * divisor > candidate:
                count += 1
                break
            if candidate % divisor == 0:
                break
        else:
            count += 1
    return count


@program(args=[(3, 200, 13)], argnums=())
def modular_power(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


@program(args=[(0.1, 12345, 30)])
def random_walk(x, seed, n):
    position = x
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483648
        if seed / 2147483648.0 < 0.5:
            position = position * 1.01 + x
        else:
            position = position - x * x
    return position


@program(args=[(0.2, 0.05, 100.0, 95.0, 0.5)], argnums=(0, 1, 2, 3, 4), scale=100.0)
def black_scholes(sigma, rate, spot, strike, time):
    root = sigma * math.sqrt(time)
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma * sigma) * time) / root
    d2 = d1 - root
    return spot * normal_cdf(d1) - strike * math.exp(-rate * time) * normal_cdf(d2)


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@program(args=[(100.0, 110.0, 0.2, 0.03, 8)], argnums=(0, 1, 2, 3), scale=100.0)
def binomial_option(spot, strike, sigma, rate, n):
    dt = 1.0 / n
    up = math.exp(sigma * math.sqrt(dt))
    p = (math.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    value = 0.0
    for i in range(n + 1):
        ways = 1.0
        for j in range(i):
            ways = ways * (n - j) / (j + 1)
        price = spot * up ** (2 * i - n)
        value += ways * p**i * (1.0 - p) ** (n - i) * max(price - strike, 0.0)
    return value * math.exp(-rate)


@program(args=[((0.05, 0.1, 0.85), DATA)], argnums=(0, 1))
def garch(parameters, returns):
    omega, alpha, beta = parameters
    variance = 0.1
    loss = 0.0
    for r in returns:
        variance = omega + alpha * r * r + beta * variance
        loss += 0.5 * (math.log(variance) + r * r / variance)
    return loss


@program(args=[(0.6, 0.3, DATA)], argnums=(0, 1, 2))
def autoregression_likelihood(phi, sigma, y):
    loss = 0.5 * y[0] ** 2 * (1.0 - phi * phi) / sigma**2 - 0.5 * math.log(1.0 - phi * phi)
    for t in range(1, len(y)):
        e = y[t] - phi * y[t - 1]
        loss += 0.5 * e * e / (sigma * sigma) + math.log(sigma)
    return loss


@program(args=[(0.1, 0.5, DATA)], argnums=(0, 1, 2))
def kalman_filter(q, r, observations):
    mean = 0.0
    variance = 1.0
    loss = 0.0
    for y in observations:
        variance += q
        s = variance + r
        gain = variance / s
        innovation = y - mean
        loss += 0.5 * (math.log(2.0 * math.pi * s) + innovation * innovation / s)
        mean += gain * innovation
        variance *= 1.0 - gain
    return loss


def decay(t, y, k):
    return -k * y + math.sin(t)


@program(args=[(1.0, 0.7, 10), (1.0, 0.7, 0)], argnums=(0, 1))
def runge_kutta(y, k, n):
    h = 0.1
    t = 0.0
    for _ in range(n):
        k1 = decay(t, y, k)
        k2 = decay(t + h / 2, y + h / 2 * k1, k)
        k3 = decay(t + h / 2, y + h / 2 * k2, k)
        k4 = decay(t + h, y + h * k3, k)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(args=[((1.0, 0.5), (0.55, 0.028, 0.8, 0.026), 5)], argnums=(0, 1))
def lotka_volterra(state, rates, n):
    def slope(hare, lynx):
        a, b, c, d = rates
        return hare * (a - b * lynx), lynx * (d * hare - c)

    hare, lynx = state
    h = 0.05
    for _ in range(n):
        dh1, dl1 = slope(hare, lynx)
        dh2, dl2 = slope(hare + h * dh1, lynx + h * dl1)
        hare += 0.5 * h * (dh1 + dh2)
        lynx += 0.5 * h * (dl1 + dl2)
    return hare * hare + lynx


@program(args=[(1.0, 2.0, 1e-3), (1.0, 0.3, 1e-4)], argnums=(0, 1), scale=10.0)
def adaptive_steps(y, k, tolerance):
    t = 0.0
    h = 0.1
    while t < 1.0:
        h = min(h, 1.0 - t)
        k1 = -k * y
        k2 = -k * (y + h * k1)
        error = abs(0.5 * h * (k2 - k1))
        if error <= tolerance:
            y = y + 0.5 * h * (k1 + k2)
            t = t + h
            if t > 1.0 - 1e-12:
                break
        h = h * min(2.0, max(0.3, 0.9 * math.sqrt(tolerance / (error + 1e-300))))
    return y


@program(args=[((1.0, 2.0, 3.0), (10.0, 28.0, 8.0 / 3.0), 8)], argnums=(0, 1), scale=100.0)
def lorenz_euler(state, parameters, n):
    x, y, z = state
    sigma, rho, beta = parameters
    for _ in range(n):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x + y * z


@program(args=[(0.7, 0.5, 16)], argnums=(0, 1))
def pendulum_leapfrog(angle, velocity, n):
    dt = 0.1
    for _ in range(n):
        velocity -= 0.5 * dt * math.sin(angle)
        angle += dt * velocity
        velocity -= 0.5 * dt * math.sin(angle)
    return 0.5 * velocity * velocity - math.cos(angle) + angle


def integrate(f, a, b, n):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += f(a + i * h) * (4.0 if i % 2 else 2.0)
    return total * h / 3.0


@program(args=[(0.5, 0.0, 2.0)], argnums=(0, 1, 2))
def simpson(k, a, b):
    return integrate(lambda x: math.exp(-k * x * x), a, b, 10)


@program(args=[(0.3, 0.9, 3)], argnums=(0, 1))
def double_integral(x, y, n):
    return integrate(lambda u: integrate(lambda v: math.sin(u * v) * x, 0.0, y, 4), x, 2.0, 2 * n)


@program(args=[((0.5, 1.0, -0.5), 1.2)], argnums=(0, 1))
def softmax_by_loops(logits, temperature):
    highest = max(logits)
    total = 0.0
    for v in logits:
        total += math.exp((v - highest) / temperature)
    entropy = 0.0
    for v in logits:
        p = math.exp((v - highest) / temperature) / total
        entropy -= p * math.log(p)
    return entropy


@program(args=[(DATA,), (np.array([1000.0, 1001.0, 999.0]),)], scale=10.0)
def log_sum_exp(a):
    highest = a[0]
    for v in a:
        highest = max(highest, v)
    total = 0.0
    for v in a:
        total += math.exp(v - highest)
    return highest + math.log(total)


@program(args=[(0.5, 1.2, X, Y)], argnums=(0, 1))
def least_squares(intercept, slope, x, y):
    residual = intercept + slope * x - y
    return np.sum(residual * residual) / len(x)


@program(args=[(np.array([0.5, 1.2]), X, Y, 4)], argnums=(0, 1, 2))
def gradient_descent_by_hand(start, x, y, n):
    a = start[0]
    b = start[1]
    for _ in range(n):
        ga = 0.0
        gb = 0.0
        for i in range(len(x)):
            r = a + b * x[i] - y[i]
            ga += 2.0 * r
            gb += 2.0 * r * x[i]
        a -= 0.02 * ga
        b -= 0.02 * gb
    return a * a + b


@program(args=[(np.array([0.25, -0.1]), X, np.array([0, 0, 1, 1, 1]))])
def logistic_regression(w, x, labels):
    loss = 0.0
    for xi, label in zip(x, labels):
        z = w[0] + w[1] * xi
        loss += math.log1p(math.exp(-abs(z))) + max(z, 0.0) - z * label
    return loss


@program(args=[(SPD, np.array([1.0, 2.0, -1.0]))], argnums=(0, 1))
def solve_two_by_two(m, b):
    determinant = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    x = (b[0] * m[1, 1] - b[1] * m[0, 1]) / determinant
    y = (m[0, 0] * b[1] - m[1, 0] * b[0]) / determinant
    return x * x + y * b[2]


@program(args=[(SPD, np.array([1.0, 2.0, -1.0]), 3)], argnums=(0, 1))
def conjugate_gradient(m, b, n):
    x = b * 0.0
    r = b - m @ x
    p = r
    rs = r @ r
    for _ in range(n):
        mp = m @ p
        alpha = rs / (p @ mp)
        x = x + alpha * p
        r = r - alpha * mp
        new = r @ r
        if new < 1e-20:
            break
        p = r + new / rs * p
        rs = new
    return x @ x


@program(args=[(SPD,)])
def cholesky_determinant(m):
    l00 = math.sqrt(m[0, 0])
    l10 = m[1, 0] / l00
    l20 = m[2, 0] / l00
    l11 = math.sqrt(m[1, 1] - l10 * l10)
    l21 = (m[2, 1] - l20 * l10) / l11
    l22 = math.sqrt(m[2, 2] - l20 * l20 - l21 * l21)
    return 2.0 * (math.log(l00) + math.log(l11) + math.log(l22))


@program(
    args=[(np.array([0.2, 0.5, 0.3]), np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]]))], argnums=(0, 1)
)
def markov_chain(initial, transition):
    p = initial
    for _ in range(5):
        p = p @ transition
    return -np.sum(p * np.log(p))


@program(args=[((0.6, 0.4), (0.7, 0.2), (1, 0, 1, 1, 0))], argnums=(0, 1))
def hidden_markov_forward(start, emit, observations):
    a, b = start
    stay = 0.8
    for o in observations:
        ea = emit[0] if o else 1.0 - emit[0]
        eb = emit[1] if o else 1.0 - emit[1]
        a, b = (a * stay + b * (1.0 - stay)) * ea, (b * stay + a * (1.0 - stay)) * eb
    return math.log(a + b)


@program(args=[(np.array([1.0, 3.0, 2.0, 5.0, 4.0]), 0.5)], argnums=(0, 1))
def rolling_dynamic_program(weights, penalty):
    take = 0.0
    skip = 0.0
    for w in weights:
        take, skip = skip + w * w, max(take, skip) - penalty
    return max(take, skip)


@program(args=[(0.3, 0.7), (0.9, -0.2)], argnums=(0, 1))
def mandelbrot_distance(re, im):
    x = 0.0
    y = 0.0
    n = 0
    while x * x + y * y < 4.0 and n < 15:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        n += 1
    return x * x + y * y + n


@program(args=[(1.3, 0.4)], argnums=(0, 1))
def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


@program(args=[(np.array([1.3, 0.4, -0.7, 1.1]),)])
def rosenbrock_chain(v):
    total = 0.0
    for i in range(len(v) - 1):
        total += 100.0 * (v[i + 1] - v[i] ** 2) ** 2 + (1.0 - v[i]) ** 2
    return total


@program(args=[(1.12, 1.0, 30.0)], argnums=(0, 1), scale=100.0)
def lennard_jones(r, sigma, epsilon):
    ratio = (sigma / r) ** 6
    return 4.0 * epsilon * (ratio * ratio - ratio)


@program(args=[(((0.0, 0.0), (1.0, 0.2), (0.4, 1.1)),)])
def pairwise_energy(points):
    energy = 0.0
    for i in range(3):
        for j in range(i):
            dx = points[i][0] - points[j][0]
            dy = points[i][1] - points[j][1]
            energy += 1.0 / math.sqrt(dx * dx + dy * dy)
    return energy


@program(args=[(2.0, 10), (2.0, 1)])
def harmonic_bessel(x, n):
    previous, current = 1.0, x
    for k in range(1, n):
        previous, current = current, ((2 * k + 1) * x * current - k * previous) / (k + 1)
    return current / 100.0


@program(args=[(0.4, 6)])
def legendre_polynomial(x, n):
    previous, current = 1.0, x
    for k in range(1, n):
        previous, current = current, ((2 * k + 1) * x * current - k * previous) / (k + 1)
    return current


@program(args=[(0.2, 5.0), (0.9, 5.0)], argnums=(0, 1))
def projectile_until_ground(drag, speed):
    x = 0.0
    y = 0.0
    vx = speed
    vy = speed
    dt = 0.05
    while True:
        vx -= drag * vx * dt
        vy -= (9.81 + drag * vy) * dt
        new = y + vy * dt
        if new < 0.0:
            return x + vx * dt * y / (y - new)
        x += vx * dt
        y = new


@program(args=[(DATA,)])
def running_mean_and_variance(values):
    mean = 0.0
    m2 = 0.0
    count = 0
    for v in values:
        count += 1
        delta = v - mean
        mean += delta / count
        m2 += delta * (v - mean)
    return m2 / (count - 1) + mean


@program(args=[(DATA, 0.3)], argnums=(0, 1))
def exponential_smoothing(values, alpha):
    level = values[0]
    loss = 0.0
    for i in range(1, len(values)):
        loss += (values[i] - level) ** 2
        level = alpha * values[i] + (1.0 - alpha) * level
    return loss


@program(args=[(0.05, 1000.0, 12), (0.0, 1000.0, 12)], argnums=(0, 1), scale=1000.0, kink=True)
def annuity(rate, principal, n):
    if rate == 0.0:
        return principal / n
    factor = (1.0 + rate) ** n
    return principal * rate * factor / (factor - 1.0)


@program(args=[(np.array([-1000.0, 300.0, 420.0, 680.0]), 0.1)], scale=1000.0)
def internal_rate_of_return(flows, guess):
    rate = guess
    for _ in range(15):
        value = 0.0
        slope = 0.0
        for t, flow in enumerate(flows):
            value += flow / (1.0 + rate) ** t
            slope -= t * flow / (1.0 + rate) ** (t + 1)
        rate -= value / slope
    return rate


@program(args=[(0.8, 3)])
def recurrent_cell(x, n):
    h = 0.0
    c = 0.0
    for t in range(n):
        gate = 1.0 / (1.0 + math.exp(-(x * t + h)))
        c = gate * c + (1.0 - gate) * math.tanh(x + h)
        h = gate * math.tanh(c)
    return h * c


@program(args=[(5, 0.5), (1, 0.5)], argnums=(1,))
def binomial_probability(n, p):
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1.0 - p) ** (n - k) * k * k
    return total


@program(args=[(0.3, 2.0, 3.0)], argnums=(0, 1, 2))
def beta_density(x, a, b):
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(norm + (a - 1.0) * math.log(x) + (b - 1.0) * math.log(1.0 - x))
