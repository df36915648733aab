from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv

from elene.nn import GINE, GNN, Arcs, EdgeKinds, updates

WIDTH = 5


@st.composite
def messages(draw):
    """Nodes, arcs of any kind (loops and repeated ones, too) between them, and a table of kinds."""
    nodes, kinds = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(0, kinds - 1))
    arcs = torch.tensor(draw(st.lists(ends, max_size=20)), dtype=torch.long).reshape(-1, 3)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    x, table = (torch.randn(rows, WIDTH, dtype=torch.double, generator=generator) for rows in (nodes, kinds))
    return x.requires_grad_(), arcs[:, :2].T.contiguous(), EdgeKinds(table.requires_grad_(), arcs[:, 2])


def pair_of_convs():
    torch.manual_seed(0)
    fused = GINE(nn.Linear(WIDTH, 3), eps=0.5, train_eps=True).double()
    plain = GINEConv(nn.Linear(WIDTH, 3), eps=0.5, train_eps=True).double()
    plain.load_state_dict(fused.state_dict())
    return fused, plain


@given(messages())
@settings(max_examples=60, deadline=None)
def test_it_is_pygs_conv(drawn):
    x, edge_index, edges = drawn
    fused, plain = pair_of_convs()
    found, expected = fused(x, edge_index, edges), plain(x, edge_index, edges.dense())
    assert torch.allclose(found, expected)
    upstream = torch.randn(found.shape, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    ours = torch.autograd.grad((found * upstream).sum(), [x, edges.table, *fused.parameters()])
    theirs = torch.autograd.grad((expected * upstream).sum(), [x, edges.table, *plain.parameters()])
    assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))


def test_dense_features_go_to_pygs_conv():
    fused, plain = pair_of_convs()
    x, edge_index = torch.randn(3, WIDTH).double(), torch.tensor([[0, 1, 1], [1, 0, 2]])
    edge_attr = torch.randn(3, WIDTH).double()
    assert torch.equal(fused(x, edge_index, edge_attr), plain(x, edge_index, edge_attr))


def test_gradients():
    edge_index, kinds = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]), torch.tensor([0, 0, 1, 1, 0])
    conv = GINE(nn.Identity(), train_eps=True).double()
    x, table = (torch.randn(rows, 4, dtype=torch.double, requires_grad=True) for rows in (3, 2))
    assert torch.autograd.gradcheck(lambda x, table: conv(x, edge_index, EdgeKinds(table, kinds)), (x, table))


def test_arcs_are_grouped_anew_for_other_kinds():
    arcs = Arcs(torch.tensor([[0, 1, 2], [1, 0, 1]]), 3)

    def entries(kinds, count=2):
        return arcs.messages(torch.zeros(3, 1), EdgeKinds(torch.zeros(count, 1), torch.tensor(kinds)))[2]

    assert entries([0, 1, 0]) is entries([0, 1, 0]) is not entries([0, 1, 0], count=4)
    assert entries([1, 1, 0]).codes.flatten().tolist() == [1, 1, 0]


def test_a_kind_for_each_arc_is_asked_for():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="edge_attr must have a kind for each of the 2 arcs, got 3"):
        GINE(nn.Identity())(torch.ones(2, 4), edge_index, EdgeKinds(torch.ones(1, 4), torch.zeros(3, dtype=torch.long)))
    with pytest.raises(ValueError, match="table must have 6 rows"):
        GINE(nn.Identity())(torch.ones(2, 4), edge_index, EdgeKinds(torch.ones(1, 4), torch.tensor([0, 5])))


@pytest.mark.parametrize("rows", [1, 2])
def test_kinds_that_the_table_does_not_have_are_refused(rows):
    with pytest.raises(IndexError):
        EdgeKinds(torch.ones(rows, 4), torch.tensor([0, 5])).dense()


class Bonds(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(3, WIDTH)

    def forward(self, names):
        return EdgeKinds(self.table.weight, names)


def test_batched_and_one_by_one():
    generator = torch.Generator().manual_seed(0)
    datas = []
    for nodes in (4, 1, 6):
        edge_index = torch.randint(0, nodes, (2, 3 * nodes), generator=generator)
        x, names = (
            torch.randn(nodes, WIDTH, generator=generator),
            torch.randint(0, 3, (3 * nodes,), generator=generator),
        )
        datas.append(Data(x=x, edge_index=edge_index, edge_attr=names))
    convs = [GINE(nn.Linear(WIDTH, WIDTH)) for _ in range(2)]
    model = GNN(
        nn.Identity(), convs, updates(WIDTH, 2), nn.Linear(WIDTH, 2), edge_encoders=[Bonds() for _ in convs]
    ).eval()
    alone = torch.cat([model(data) for data in datas])
    assert torch.allclose(model(Batch.from_data_list(datas)), alone, atol=1e-5)
