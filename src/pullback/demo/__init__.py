"""Worked examples that the command line runs: real data, a model in plain Python, exact derivatives.

    pullback demo                       the pelt records of Hudson Bay that are shipped with the package
    pullback demo mine.csv --output mine.png
    pullback demo digits                a network that learns scikit-learn's images of digits

`lotka_volterra` is the model (the part that is compiled), `data` reads the CSV, `fit` maximises the likelihood,
`report` times, prints and draws. `digits_model` is the network and its training (compiled), `digits` the rest of it.
"""
