"""What is known of a fit from public data and released sums: the statistics of the estimators.

No module here sees a private row: what comes in is public or has passed the door.
"""
