"""A run as two ONNX graphs in one file, and a runner that needs no torch.

To read, without torch: package.py (the file), search.py (greedy and beam search in NumPy), onnx_run.py (OnnxRun).
To write: recurrence.py (layers as ONNX nodes), tree.py (names for states), graphs.py (a model's encode and step as
graphs), write.py (run → file).
"""
