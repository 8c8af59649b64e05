"""Can the weights of a run be believed?

In reading order: the door to the weights (altered), forced decoding (walking), numbers (measures); what is tried
(erasure, gradients, permutation) and gathered (evidence), the ablation, other runs (stability); what it all says
(findings, verdict), the whole (auditing), and how it is shown (summary, histogram, report).
"""

from regard.analysis.audit.auditing import Audit as Audit
from regard.analysis.audit.auditing import audit as audit
