"""The same mathematics in fewer passes, for the CPU. Each part equals its plain spelling elsewhere, by test.

switch       whether the fast spelling may be used
kernels      kernels.c and beam.c, compiled on this machine
packed       weights for the products of kernels.c
gathering    products of a loop whose weight gradients are one product after the loop
gates        LSTM and GRU steps with gradients by hand
energy       additive energies without a tanh per pair
keeping      dropout's masks
attend       one reading of the source, in one pass
recurrence   a whole recurrence as one node of the graph
reading      the same with attention inside
decoding     steps of search
greedy       a whole greedy search
beam         a whole beam search
cross_entropy   a loss that never holds all logits
"""
