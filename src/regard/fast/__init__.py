"""The same mathematics in fewer passes, for the CPU. Each part equals its plain spelling elsewhere, by test.

gathering    products of a loop whose weight gradients are one product after the loop
gates        LSTM and GRU steps with gradients by hand
energy       additive energies without a tanh per pair
recurrence   both directions of an encoder layer as one loop
"""
