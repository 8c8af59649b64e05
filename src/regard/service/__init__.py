"""Runs behind HTTP: a JSON interface and a page."""
