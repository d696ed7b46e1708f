"""Logistic regression with nothing public but a matrix.

An earlier survey printed the means and the covariance of its columns, and nothing else. That is
enough: no public row and no public label is needed.
"""

import numpy as np

from publicmoments import GDP, LogisticRegression, PublicMoments

rng = np.random.default_rng(2)
mixing = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [2.0, 0.5, 0.1]])
X = 5.0 + rng.normal(size=(30_000, 3)) @ mixing
odds = X @ [1.0, -0.5, 0.5] - 5.0
answers = np.where(rng.uniform(size=30_000) < 1 / (1 + np.exp(-odds)), "yes", "no")

# Copied from the printed survey, which had 500 respondents.
printed_mean, printed_covariance = np.full(3, 5.0), mixing.T @ mixing
public = PublicMoments.from_mean_cov(printed_mean, printed_covariance, n=500)

model = LogisticRegression(classes=("no", "yes"), privacy=GDP(1.0), public=public)
model.fit(X, answers)
print(model.summary())
print("Chance of a yes at the mean:", model.predict_proba([[5.0, 5.0, 5.0]])[0, 1].round(3))
