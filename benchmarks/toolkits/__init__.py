"""What speed.py races: one module per toolkit, run in that toolkit's own environment, and what they share.

Reading order: sizes, corpus, environments, clock, part, then ours, joey, yoyo and marian; work and table count and
print. What runs in a peer's environment imports nothing but the standard library and that peer.
"""
