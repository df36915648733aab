from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elene.nn import Entries
from elene.nn.functional import ego_reduce, end_products, entry_moments, fold_arcs, forgotten, gated
from entries import example, stacked

BACKENDS = ["numba", "torch"]


def naive(tensors, entries, pool):
    """One entry at a time."""
    x, y, table = tensors
    of_rows = [[] for _ in range(len(x))]
    of_columns = [[] for _ in range(len(y))]
    for row, column, z in zip(entries.rows.tolist(), entries.columns.tolist(), stacked(tensors, entries), strict=True):
        active = torch.relu(z)
        of_rows[row].append(active)
        of_columns[column].append(active)
    zero = 0 * (x.sum(0) + y.sum(0) + table.sum(0))
    pooled = []
    for groups in (of_rows, of_columns):
        sums = [sum(group, zero) / (max(len(group), 1) if pool == "mean" else 1) for group in groups]
        pooled.append(torch.stack(sums))
    return pooled


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), codes=st.integers(1, 2), pool=st.sampled_from(["mean", "sum"]))
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_agrees_with_one_entry_at_a_time(backend, dtype, seed, codes, pool):
    tensors, entries = example(seed, codes=codes, dtype=dtype)
    tolerance = 1e-5 if dtype is torch.float32 else 1e-12
    expected = naive(tensors, entries, pool)
    wanted = torch.autograd.grad(sum(part.sin().sum() for part in expected), tensors, allow_unused=True)
    found = ego_reduce(*tensors, entries, pool, by_column=True, backend=backend)
    grads = torch.autograd.grad(sum(part.sin().sum() for part in found), tensors)
    for mine, naive_one in zip(found, expected, strict=True):
        assert mine.dtype == dtype and torch.allclose(mine, naive_one, atol=tolerance)
    for mine, naive_one in zip(grads, wanted, strict=True):
        assert torch.allclose(mine, torch.zeros_like(mine) if naive_one is None else naive_one, atol=10 * tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("pool", ["mean", "sum"])
@pytest.mark.parametrize("codes", [1, 2])
def test_gradcheck(backend, pool, codes):
    tensors, entries = example(3, codes=codes)
    assert torch.autograd.gradcheck(lambda *t: ego_reduce(*t, entries, pool, by_column=True, backend=backend), tensors)
    assert torch.autograd.gradcheck(lambda *t: ego_reduce(*t, entries, pool, backend=backend)[0], tensors)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), codes=st.integers(1, 2), shift=st.sampled_from([0, 300]))
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_moments_are_those_of_all_entries_stacked(backend, dtype, seed, codes, shift):
    tensors, entries = example(seed, codes=codes, dtype=dtype)
    shifted = [tensor + sign * shift for tensor, sign in zip(tensors, (1, -3, 5), strict=True)]
    z = stacked(shifted, entries)
    expected = (z.mean(0), z.var(0, correction=0)) if len(z) else (z.sum(0), z.sum(0))
    found = entry_moments(*shifted, entries, backend)
    tolerance = (1 + shift) * (1e-6 if dtype is torch.float32 else 1e-14)
    for mine, naive_one in zip(found, expected, strict=True):
        assert mine.dtype == dtype and torch.allclose(mine, naive_one, rtol=10 * tolerance, atol=10 * tolerance)
    wanted, grads = (
        torch.autograd.grad((mean.sin() + variance.cos()).sum(), tensors, allow_unused=True)
        for mean, variance in (expected, found)
    )
    for mine, naive_one in zip(grads, wanted, strict=True):
        assert torch.allclose(mine, torch.zeros_like(mine) if naive_one is None else naive_one, atol=100 * tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("codes", [1, 2])
@pytest.mark.parametrize(("rows", "columns"), [(5, 4), (4, 6)])
def test_gradcheck_of_moments(backend, codes, rows, columns):
    tensors, entries = example(3, rows, columns, codes=codes)
    assert torch.autograd.gradcheck(lambda *t: entry_moments(*t, entries, backend), tensors)


def test_second_derivatives_are_refused():
    tensors, entries = example(3)
    for output in (ego_reduce(*tensors, entries)[0].sin(), entry_moments(*tensors, entries)[1].sin()):
        (grad,) = torch.autograd.grad(output.sum(), tensors[:1], create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate twice"):
            grad.sum().backward()


def test_gradcheck_of_products_of_ends():
    x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    ends = torch.tensor([[0, 1, 1], [2, 3, 2]])
    assert torch.autograd.gradcheck(lambda x: end_products(x, ends), x)
    assert torch.equal(end_products(x, ends), x[ends[0]] * x[ends[1]])


@pytest.mark.parametrize(("dtype", "precision"), [(torch.float, 1e-5), (torch.bfloat16, 0.1)])
def test_products_of_ends_in_kernels_and_without(dtype, precision):
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(0, 9, (2, 40), generator=generator)
    x = torch.randn(40, 9, generator=generator).to(dtype).T.requires_grad_()
    found, expected = end_products(x, ends), x[ends[0]] * x[ends[1]]
    upstream = torch.randn(40, 40, generator=generator).to(dtype).T
    grads = (torch.autograd.grad((out * upstream).sum(), x)[0] for out in (found, expected))
    assert torch.equal(found, expected) and torch.allclose(*grads, rtol=precision, atol=precision)


@pytest.mark.parametrize("ends", [[[0], [2]], [[-1], [0]], [[0.0], [1.0]], [0, 1]])
def test_ends_are_looked_at_before_a_kernel_reads_them(ends):
    with pytest.raises(ValueError, match="ends must be"):
        end_products(torch.ones(2, 3), torch.tensor(ends))


ARCS, BOTH = torch.tensor([1, 0, 0, 1]), torch.tensor([[1, 0], [2, 3]])


def test_gradcheck_of_folding():
    by_arc = torch.randn(4, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: fold_arcs(values, ARCS, BOTH), by_arc)
    assert torch.equal(fold_arcs(by_arc, ARCS, BOTH), torch.zeros(2, 2).double().index_add(0, ARCS, by_arc))


@pytest.mark.parametrize("edges", [None, (ARCS, BOTH)])
@pytest.mark.parametrize("old", [True, False])
def test_gradcheck_of_gates(edges, old):
    x, y = (torch.randn(n, 2, dtype=torch.double, requires_grad=True) for n in (4, 4 if edges is None else 2))
    gates = torch.tensor([0.3, -2.0], dtype=torch.double, requires_grad=True)
    inputs = (x, y, gates) if old else (y, gates)
    new = -2 * (y if edges is None else y[ARCS])
    assert torch.allclose(gated(x if old else None, y, gates, edges), 0.3 * x + new if old else new)
    assert torch.autograd.gradcheck(lambda *t: gated(t[0] if old else None, *t[-2:], edges), inputs)


def test_gates_keep_the_type_of_what_enters():
    x, y, gates = torch.ones(2, 3), torch.ones(2, 3).bfloat16().requires_grad_(), torch.ones(2, requires_grad=True)
    out = gated(x, y, gates)
    out.sum().backward()
    assert out.dtype == torch.float32 and y.grad.dtype == torch.bfloat16 and gates.grad.tolist() == [6, 6]


def test_what_is_forgotten_is_made_again_and_all_else_is_stored():
    torch.manual_seed(0)
    x, linear, made = torch.randn(5, 3, requires_grad=True), torch.nn.Linear(3, 2), []

    def gradients(context, tensor):
        with context:
            out = linear(tensor).square()
        return torch.autograd.grad(out.sum(), [x, *linear.parameters()])

    def again():
        made.append(1)
        return 3 * x

    tensor = 3 * x
    expected = gradients(torch.enable_grad(), tensor)
    tensor = 3 * x
    context = forgotten((tensor, again))
    kept = []
    store = context.pack_hook
    context.pack_hook = lambda saved: kept.append(store(saved)) or kept[-1]
    found = gradients(context, tensor)
    assert made == [1] and all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    assert again in kept and not any(isinstance(part, torch.Tensor) and part.shape == (5, 3) for part in kept)


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_one_output_alone(backend):
    tensors, entries = example(5)
    for which in (0, 1):
        expected = torch.autograd.grad(naive(tensors, entries, "mean")[which].sum(), tensors)
        found = torch.autograd.grad(
            ego_reduce(*tensors, entries, by_column=True, backend=backend)[which].sum(), tensors
        )
        for mine, naive_one in zip(found, expected, strict=True):
            assert torch.allclose(mine, naive_one, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_to_sum(backend):
    none = torch.empty(0, dtype=torch.int32)
    empty = Entries(torch.zeros(3, dtype=torch.int32), none, none.reshape(0, 1), 2)
    of_rows, of_columns = ego_reduce(
        torch.ones(3, 2), torch.ones(2, 2), torch.ones(0, 2), empty, by_column=True, backend=backend
    )
    assert of_rows.tolist() == [[0, 0]] * 3 and of_columns.tolist() == [[0, 0]] * 2
    nobody = Entries(none, none, none.reshape(0, 1), 0)
    assert ego_reduce(torch.ones(0, 2), torch.ones(0, 2), torch.ones(0, 2), nobody, backend=backend)[0].shape == (0, 2)
    for entries, inputs in ((empty, (3, 2, 0)), (nobody, (0, 0, 0))):
        moments = entry_moments(*(torch.ones(n, 2) for n in inputs), entries, backend)
        assert [moment.tolist() for moment in moments] == [[0, 0], [0, 0]]


def test_chunks_of_the_torch_path_change_nothing(monkeypatch):
    tensors, entries = example(7, rows=30, codes=2)
    whole = ego_reduce(*tensors, entries, by_column=True, backend="torch")
    monkeypatch.setattr("elene.nn.ops.chunked.CHUNK", 7)
    parts = ego_reduce(*tensors, entries, by_column=True, backend="torch")
    assert all(torch.allclose(a, b) for a, b in zip(whole, parts, strict=True))
    assert torch.allclose(entry_moments(*tensors, entries, "torch")[1], stacked(tensors, entries).var(0, correction=0))


@pytest.fixture
def threads():
    """To set how many there are."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def graphs_of(count, rows, columns, width):
    """So many lists of as many rows and columns each, one after the other, as in a batch of graphs."""
    tensors, _ = example(9, count * rows, count * columns, 40, width, dtype=torch.float32)
    lists = [example(seed, rows, columns, 40, codes=1)[1] for seed in range(count)]
    chosen = [part.columns + i * columns for i, part in enumerate(lists)]
    sizes, codes = torch.cat([part.sizes for part in lists]), torch.cat([part.codes for part in lists])
    return tensors, Entries(sizes, torch.cat(chosen), codes, count * columns)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("count", "rows", "columns", "apart"), [(60, 100, 7, True), (60, 30, 90, True), (2, 3000, 150, False)]
)
def test_the_number_of_threads_changes_no_bit(monkeypatch, threads, count, rows, columns, apart):
    monkeypatch.setattr("elene.nn.entries.SMALL", 2**12)
    tensors, entries = graphs_of(count, rows, columns, 40)
    bounds, found_apart = entries.ranges(40)
    assert len(bounds) > 8 > len(entries.ranges(40, 5).bounds) > 2 and found_apart is apart
    assert [a for a, _ in bounds[1:]] == [b for _, b in bounds[:-1]]
    assert (bounds[0][0], bounds[-1][1]) == (0, len(tensors[0]))

    def everything(backend):
        of_rows, of_columns = ego_reduce(*tensors, entries, by_column=True, backend=backend)
        moments = entry_moments(*tensors, entries, backend)
        summed = of_rows.sum() + of_columns.sin().sum() + sum(moment.sum() for moment in moments)
        return [of_rows, of_columns, *moments, *torch.autograd.grad(summed, tensors)]

    outs = []
    for number in (1, 2, 5):
        threads(number)
        outs.append(everything("numba"))
    assert all(torch.equal(a, b) for other in outs[1:] for a, b in zip(outs[0], other, strict=True))
    reference = everything("torch")
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(outs[0], reference, strict=True))


def test_ranges_that_no_other_crosses():
    sizes, columns = torch.tensor([1, 2, 0, 1, 1, 2]), torch.tensor([1, 0, 1, 4, 2, 5, 6])
    entries = Entries(sizes, columns, torch.zeros(7, 1, dtype=torch.int32), 7)
    assert entries.closed.tolist() == [2, 3, 5]
    assert not len(Entries(sizes[:0], columns[:0], torch.zeros(0, 1, dtype=torch.int32), 7).closed)


def test_no_grad_and_bfloat16_and_autocast():
    tensors, entries = example(2, dtype=torch.float32)
    with torch.no_grad():
        plain, _ = ego_reduce(*tensors, entries)
        assert not plain.requires_grad
        half, _ = ego_reduce(*(tensor.bfloat16() for tensor in tensors), entries)
    assert half.dtype == torch.bfloat16 and torch.allclose(half.float(), plain, atol=0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, _ = ego_reduce(tensors[0] @ torch.eye(3), *tensors[1:], entries)
        mixed.float().sum().backward()
    assert torch.allclose(mixed.float(), plain, atol=0.1) and tensors[0].grad is not None


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # inside torch.compile
def test_compile_of_the_surrounding_model():
    tensors, entries = example(4, dtype=torch.float32)
    plain, _ = ego_reduce(*tensors, entries)
    compiled = torch.compile(lambda *t: ego_reduce(*t, entries)[0] * 2, backend="eager")
    assert torch.allclose(compiled(*tensors), 2 * plain)
    x, ends = torch.randn(3, 2), torch.tensor([[0, 1], [2, 0]])
    compiled = torch.compile(lambda x: end_products(x, ends) * 2, backend="eager")
    assert torch.allclose(compiled(x), 2 * x[ends[0]] * x[ends[1]])


def test_bad_arguments_are_named():
    (x, y, table), entries = example()
    with pytest.raises(ValueError, match=r"x must have 5 rows.*got shape \(4, 3\)"):
        ego_reduce(x[:4], y, table, entries)
    with pytest.raises(ValueError, match="y must have 4 rows"):
        ego_reduce(x, y[:1], table, entries)
    with pytest.raises(ValueError, match="equally wide, got 3, 3 and 2"):
        ego_reduce(x, y, table[:, :2], entries)
    with pytest.raises(ValueError, match="pool must be one of"):
        ego_reduce(x, y, table, entries, pool="max")
    with pytest.raises(ValueError, match="backend must be one of"):
        ego_reduce(x, y, table, entries, backend="jax")
