"""After the door: what is known of the model, how a release adds to it, and the estimators."""
