"""Worked examples that the command line runs: real data, a model in plain Python, exact derivatives.

    pullback demo                       the pelt records of Hudson Bay that are shipped with the package
    pullback demo mine.csv --output mine.png

`lotka_volterra` is the model (the part that is compiled), `data` reads the CSV, `fit` maximises the likelihood,
`report` times, prints and draws.
"""
