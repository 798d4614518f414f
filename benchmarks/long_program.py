"""A program of 300 lines with some twenty functions and classes, as first calls meet it: an epidemic in a few towns.

    cost(0.35, 0.12, 0.4, 1.5, 160)         what the epidemic costs; differentiable by the first four arguments
    pb.value_and_grad(cost, argnums=(0, 1, 2, 3))(*ARGUMENTS)

Towns lie on a tree of roads.  People are susceptible, exposed, infected or recovered; seasons and measures change how
many each of them infects.  Vaccine is divided, hospitals fill, deaths are discounted, and what is reported is compared
with records of earlier years.
"""

import math
from dataclasses import dataclass, field

import numpy as np

__all__ = ["ARGUMENTS", "cost"]

ARGUMENTS = (0.35, 0.12, 0.4, 1.5, 160)
RECORDS = {10: 2.1, 40: 4.4, 80: 7.0, 120: 7.9}
SEASONS = ("winter", "spring", "summer", "autumn")
DAYS_OF_A_SEASON = 40


class Overwhelmed(Exception):
    """A hospital that takes nobody more."""


# ---- people ----------------------------------------------------------------------------------------------------------


@dataclass
class Rates:
    """What the disease does in a day."""

    infection: float
    recovery: float
    incubation: float = 0.2
    mortality: float = 0.01

    def reproduction(self):
        return self.infection / self.recovery

    def under(self, factor):
        """The rates while a measure holds."""
        return Rates(self.infection * factor, self.recovery, self.incubation, self.mortality)


@dataclass
class People:
    """How many of a town are in which state, in thousands."""

    susceptible: float
    exposed: float
    infected: float
    recovered: float = 0.0
    dead: float = 0.0

    @property
    def alive(self):
        return self.susceptible + self.exposed + self.infected + self.recovered

    def __add__(self, other):
        return People(
            self.susceptible + other.susceptible,
            self.exposed + other.exposed,
            self.infected + other.infected,
            self.recovered + other.recovered,
            self.dead + other.dead,
        )

    def move(self, exposed, ill, well, dead):
        """One day's changes."""
        self.susceptible -= exposed
        self.exposed += exposed - ill
        self.infected += ill - well - dead
        self.recovered += well
        self.dead += dead

    def vaccinate(self, doses):
        """As many as are left to be vaccinated; the doses that remain."""
        given = min(doses, 0.9 * self.susceptible)
        self.susceptible -= given
        self.recovered += given
        return doses - given


# ---- hospitals -------------------------------------------------------------------------------------------------------


class Hospital:
    """Beds, and what a day of treatment costs."""

    def __init__(self, beds, price):
        self.beds = beds
        self.price = price
        self.spent = 0.0
        self.full_days = 0

    def treat(self, patients):
        if patients > self.beds:
            self.full_days += 1
            raise Overwhelmed(f"more patients than {self.beds} beds")
        self.spent += self.price * patients

    def survival(self, patients):
        """By how much treatment lowers mortality; emergency beds help half as much."""
        try:
            self.treat(patients)
        except Overwhelmed:
            self.spent += 2.0 * self.price * self.beds
            return 0.5 * self.beds / patients
        return 1.0 / (1.0 + 0.1 * patients)


# ---- measures --------------------------------------------------------------------------------------------------------


class Measure:
    """Something that lowers infection, at a price."""

    def __init__(self, strength, price):
        self.strength = strength
        self.price = price
        self.days = 0

    def factor(self, people, day):
        return 1.0

    def cost(self):
        return self.price * self.days


class Distance(Measure):
    """People keep apart as long as many are ill."""

    def __init__(self, strength, price, threshold):
        super().__init__(strength, price)
        self.threshold = threshold

    def factor(self, people, day):
        if people.infected < self.threshold:
            return 1.0
        self.days += 1
        return math.exp(-self.strength * people.infected / people.alive)


class Masks(Measure):
    """Worn in winter."""

    def factor(self, people, day):
        if SEASONS[day // DAYS_OF_A_SEASON % 4] != "winter":
            return 1.0
        self.days += 1
        return 1.0 - 0.2 * math.tanh(self.strength)


class Holidays(Distance):
    """Schools close too, and cost less the longer they are closed."""

    def cost(self):
        return super().cost() / (1.0 + 0.1 * self.days)


# ---- towns -----------------------------------------------------------------------------------------------------------


@dataclass
class Town:
    """Where people live, and the smaller towns behind it."""

    name: str
    people: People
    hospital: Hospital
    measures: list[Measure]
    behind: list["Town"] = field(default_factory=list)

    def contact(self, day):
        factor = 1.0
        for measure in self.measures:
            factor *= measure.factor(self.people, day)
        return factor

    def step(self, rates, day, season):
        """One day of the disease here; how many fell ill."""
        now = rates.under(season(day) * self.contact(day))
        people = self.people
        exposed = now.infection * people.susceptible * people.infected / people.alive
        ill = now.incubation * people.exposed
        mortality = now.mortality / (0.1 + self.hospital.survival(0.3 * people.infected))
        people.move(exposed, ill, now.recovery * people.infected, mortality * people.infected)
        return ill


def town(name, size, ill, strength, behind):
    """A town as it is on the first day."""
    measures = [Distance(strength, 0.02, 0.5), Masks(strength, 0.001)]
    if size > 40.0:
        measures.append(Holidays(0.5 * strength, 0.05, 1.0))
    return Town(name, People(size - ill, 0.0, ill), Hospital(0.02 * size, 0.1), measures, behind)


def country(strength, ill):
    """All the towns, the largest first."""
    farms = [town(f"farm {k}", 2.0 + k, 0.0, strength, []) for k in range(3)]
    harbour = town("harbour", 30.0, ill, strength, [])
    market = town("market", 25.0, 0.1, strength, farms)
    return town("capital", 120.0, 0.2, strength, [harbour, market])


def towns(root):
    """Every town of the tree, those before which it lies first."""
    found, waiting = [], [root]
    while waiting:
        place = waiting.pop()
        found.append(place)
        for other in place.behind:
            waiting.append(other)
    return found


def total(place):
    """The people of a town and of all behind it."""
    people = place.people
    for other in place.behind:
        people = people + total(other)
    return people


# ---- what moves ------------------------------------------------------------------------------------------------------


def travel(place, share):
    """Exchange a share of the exposed along the roads."""
    for other in place.behind:
        there, back = share * place.people.exposed, 2.0 * share * other.people.exposed
        place.people.exposed += back - there
        other.people.exposed += there - back
        travel(other, 0.5 * share)


def seasonal(amplitude):
    """How infection follows the year."""
    length = 4 * DAYS_OF_A_SEASON

    def factor(day):
        return 1.0 + amplitude * math.cos(2.0 * math.pi * day / length)

    return factor


def deliveries(first, growth, every, days):
    """Days on which vaccine comes, and how much."""
    doses = first
    for day in range(every, days, every):
        yield day, doses
        doses *= growth


def distribute(places, doses):
    """Vaccine by size; what one town does not need goes to the next."""
    everybody = sum(place.people.alive for place in places)
    left = 0.0
    for place in sorted(places, key=lambda place: -place.people.alive):
        left = place.people.vaccinate(doses * place.people.alive / everybody + left)
    return left


# ---- what is known about it ------------------------------------------------------------------------------------------


def smoothed(series, width):
    """A running mean, in place."""
    kept = series.copy()
    for day in range(width, len(series)):
        series[day] = np.mean(kept[day - width : day + 1])


def misfit(reported, scale):
    """Squared distance of the logarithms to the records."""
    error = 0.0
    for day, record in RECORDS.items():
        if day >= len(reported):
            continue
        error += (math.log(scale * reported[day] + 1e-3) - math.log(record)) ** 2
    return error


def discounted(series, rate):
    """The value today of what comes later."""
    weights = np.exp(-rate * np.arange(len(series)))
    return np.sum(weights * series)


def expenses(places):
    """By what the money is spent on."""
    spent = {"hospitals": 0.0, "measures": 0.0}
    for place in places:
        spent["hospitals"] += place.hospital.spent
        for measure in place.measures:
            spent["measures"] += measure.cost()
    return spent


def simulate(root, rates, season, days):
    """Run the days; newly ill and dead of each."""
    places = towns(root)
    ill, dead = np.zeros(days), np.zeros(days)
    vaccine = dict(deliveries(0.5, 1.2, 20, days))
    wasted = 0.0
    for day in range(days):
        for place in places:
            ill[day] += place.step(rates, day, season)
        dead[day] = total(root).dead
        travel(root, 0.02)
        if day in vaccine:
            wasted += distribute(places, vaccine[day])
    return ill, dead, wasted


def cost(infection, recovery, strength, seed, days):
    """Everything in one number."""
    rates = Rates(infection, recovery)
    if rates.reproduction() < 1.0:
        raise ValueError("an epidemic that does not spread")
    root = country(strength, seed)
    ill, dead, wasted = simulate(root, rates, seasonal(0.3), days)
    dead[1:] -= dead[:-1].copy()
    smoothed(ill, 6)
    spent = expenses(towns(root))
    money = spent["hospitals"] + spent["measures"] + 0.1 * wasted
    return money + 50.0 * discounted(dead, 0.001) + misfit(ill, 1.3)
