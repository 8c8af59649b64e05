import torch

from regard.attention import Trace

B, S = 2, 3


def test_a_trace_begins_with_nothing_read() -> None:
    trace = Trace.begin(torch.ones(B, S, dtype=torch.bool), torch.float64)
    assert trace.previous.shape == trace.total.shape == (B, S)
    assert trace.step.tolist() == [0, 0]
    assert trace.previous.dtype == trace.total.dtype == trace.step.dtype == torch.float64
    assert (trace.previous == 0).all()
    assert (trace.total == 0).all()


def test_a_trace_keeps_the_last_weights_and_the_sum() -> None:
    first, second = torch.rand(B, S), torch.rand(B, S)
    begin = Trace.begin(torch.ones(B, S, dtype=torch.bool), torch.float32)
    trace = begin.after(first).after(second)
    assert torch.equal(trace.previous, second)
    torch.testing.assert_close(trace.total, first + second)
    assert trace.step.tolist() == [2, 2]
    assert (begin.total == 0).all()  # the earlier trace is another tuple, untouched
