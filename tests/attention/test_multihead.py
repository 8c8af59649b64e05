import pytest
import torch
from torch import nn

from regard.attention import (
    SCORES,
    AdditiveScore,
    Attention,
    CoverageTerm,
    Encoded,
    LocationTerm,
    MultiHead,
    ScaledDotScore,
    Trace,
)
from regard.errors import UsageError

B, S, T, Q, V, A = 2, 3, 5, 7, 11, 13
MASK = torch.tensor([[True, True, True], [True, True, False]])


def example() -> tuple[torch.Tensor, Encoded]:
    torch.manual_seed(0)
    return torch.randn(B, T, Q), Encoded(torch.randn(B, S, V), MASK, torch.randn(B, V))


def test_equals_the_equation_head_by_head() -> None:
    query, encoded = example()
    heads = [Attention(SCORES[name](Q, size, A), size) for name, size in [("additive", 2), ("bilinear", 3)]]
    multi = MultiHead(heads, V)
    contexts, weights = [], torch.zeros(B, T, S)
    for head, project in zip(heads, multi.P, strict=True):
        attended = head(query, head.remember(encoded._replace(values=project(encoded.values))))
        contexts.append(attended.context)
        weights = weights + attended.weights / 2
    result = multi(query, multi.remember(encoded))
    assert result.context.shape == (B, T, V)
    torch.testing.assert_close(result.context, torch.cat(contexts, -1) @ multi.O.weight.T)
    torch.testing.assert_close(result.weights, weights)


def test_heads_differ() -> None:
    query, encoded = example()
    multi = MultiHead([Attention(AdditiveScore(Q, 3, A), 3) for _ in range(2)], V)
    one, other = (head(query, part) for head, part in zip(multi.heads, multi.remember(encoded), strict=True))
    assert (one.weights - other.weights).abs().max() > 1e-3


def test_one_head_with_identities_is_that_head() -> None:
    _, encoded = example()
    head = Attention(ScaledDotScore(V, V, A), V)
    multi = MultiHead([head], V)
    nn.init.eye_(multi.get_parameter("P.0.weight"))
    nn.init.eye_(multi.O.weight)
    query = torch.randn(B, T, V)
    alone, result = head(query, head.remember(encoded)), multi(query, multi.remember(encoded))
    torch.testing.assert_close(result.context, alone.context)
    torch.testing.assert_close(result.weights, alone.weights)


def test_two_scaled_heads_equal_torchs_own() -> None:
    """torch compares [q; q] by halves: with an identity for queries, P for keys and values, it is ours."""
    torch.manual_seed(0)
    size = 3
    query, values = torch.randn(B, T, size), torch.randn(B, S, 2 * size)
    multi = MultiHead([Attention(ScaledDotScore(size, size, A), size) for _ in range(2)], 2 * size)
    views = torch.cat([project.weight for project in multi.P if isinstance(project, nn.Linear)])
    theirs = nn.MultiheadAttention(2 * size, 2, bias=False, batch_first=True)
    theirs.in_proj_weight.data = torch.cat([torch.eye(2 * size), views.detach(), views.detach()])
    theirs.out_proj.weight.data = multi.O.weight.detach()
    expected = theirs(query.repeat(1, 1, 2), values, values, key_padding_mask=~MASK)
    result = multi(query, multi.remember(Encoded(values, MASK, values[:, 0])))
    torch.testing.assert_close(result.context, expected[0])
    torch.testing.assert_close(result.weights, expected[1])


def test_a_head_may_look_back_at_the_mean_weights() -> None:
    query, encoded = example()
    back = Attention(AdditiveScore(Q, 3, A), 3, terms=[CoverageTerm(A, 1), LocationTerm(A, 3)])
    multi = MultiHead([Attention(AdditiveScore(Q, 3, A), 3), back], V)
    assert multi.looks_back
    memory, trace = multi.remember(encoded), Trace.begin(MASK, torch.float32)
    first = multi(query[:, :1], memory, trace).weights
    second = multi(query[:, :1], memory, trace.after(first[:, 0])).weights
    assert (first - second).abs().max() > 1e-4
    with pytest.raises(UsageError, match="once per step"):
        multi(query, memory)


def test_needs_a_head() -> None:
    with pytest.raises(UsageError, match="at least one"):
        MultiHead([], V)
