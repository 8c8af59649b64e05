"""The same mathematics in fewer passes, for the CPU. Each part equals its plain spelling elsewhere, by test.

switch       whether the fast spelling may be used
kernels      kernels.c, beam.c and whole.c, compiled on this machine
bounds       whether symbols are those of a table, before C looks them up
versions     whether weights have changed since something was made of them
scratch      memory for what ends with a call
packed       weights for the products of kernels.c
products     layers and gradients of weights over many rows, by the same tiles
gathering    products of a loop whose weight gradients are one product after the loop
gates        LSTM and GRU steps with gradients by hand
energy       additive energies without a tanh per pair
dropping     dropout without a mask
attend       one reading of the source, in one pass
recurrence   a whole recurrence as one node of the graph
inside       the same in C, without padding
reading      the same with attention inside
reading_inside   and, where it has one layer, all of it in C
hearing      an encoder's first layer from symbols on, in one call
reciting     a decoder from symbols to readouts, in one call
decoding     steps of search
greedy       a whole greedy search
beam         a whole beam search
cross_entropy   a loss that never holds all logits
adam         steps of the optimiser
"""
