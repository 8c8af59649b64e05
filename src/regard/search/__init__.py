"""Finding answers: greedy, beam and sampling. They know step functions, not models.

Read step.py (what a model must offer), constraints.py (what may be written), hypothesis.py (what comes out),
greedy.py, beam.py and sample.py; ensemble.py makes one step function of several.
"""

from regard.search.beam import beam
from regard.search.constraints import Limits
from regard.search.ensemble import ensemble
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis
from regard.search.sample import sample
from regard.search.step import Step, StepOutput
from regard.search.tree import pick

__all__ = ["Hypothesis", "Limits", "Step", "StepOutput", "beam", "ensemble", "greedy", "pick", "sample"]
