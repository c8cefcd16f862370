"""The model: what a theory is, how it predicts and how it is saved. Knows no learner and no writer."""
