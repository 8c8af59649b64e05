"""What attention is worth: is it an alignment, can it be believed, which of several recipes is better?"""
