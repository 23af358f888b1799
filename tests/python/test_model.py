import bankwise
import pytest

pytestmark = pytest.mark.usefixtures("model")

COLUMN = [128 * lane for lane in range(32)]


def test_one_access() -> None:
    assert bankwise.cost(COLUMN) == bankwise.Cost(32, 1, 31, 32, 31)
    assert bankwise.cost([132 * lane for lane in range(32)]).conflicts == 0
    assert bankwise.cost([16 * lane for lane in range(32)], 16, "store") == bankwise.Cost(4, 4, 0, 4, 0)


def test_inactive_lanes() -> None:
    assert bankwise.cost([None, *COLUMN[1:]]).passes == 31
    assert bankwise.cost(COLUMN, mask=0b11).passes == 2
    assert bankwise.cost([]).passes == 0


def test_global_memory() -> None:
    assert bankwise.cost([8 * lane for lane in range(32)], space="global") == bankwise.SectorCost(8, 4, 2, 128)


def test_other_architectures() -> None:
    assert bankwise.cost([4 * lane for lane in range(64)], arch="gfx942").conflicts == 0
    assert {"sm_90", "gfx942"} <= set(bankwise.architectures())


@pytest.mark.parametrize(
    ("sentence", "arguments"),
    [
        ("no architecture is named 'sm_1234'", {"arch": "sm_1234"}),
        ("no operation is named", {"op": "loads"}),
        ("'shared' or 'global'", {"space": "local"}),
        ("sm_90 has no 3-byte load", {"width": 3}),
        ("is not a multiple|multiple of|aligned", {"width": 16, "addresses": [4]}),
        ("at most 64 lanes", {"addresses": range(0, 400, 4)}),
        ("address -4 of lane 0", {"addresses": [-4]}),
        ("address 4294967296 of lane 1", {"addresses": [0, 2**32]}),
        ("lane 5 is active and has no address", {"addresses": [0], "mask": 0b100001}),
    ],
)
def test_refusals(sentence: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=sentence):
        bankwise.cost(**{"addresses": COLUMN, **arguments})


def test_floats_are_no_addresses() -> None:
    with pytest.raises(TypeError):
        bankwise.cost([0.5])


def test_many_accesses() -> None:
    np = pytest.importorskip("numpy")
    lanes = np.arange(32)
    costs = bankwise.cost(np.stack([lanes * 4, lanes * 8, lanes * 128]))
    assert costs.passes.tolist() == [1, 2, 32] and costs.ideal.tolist() == [1, 1, 1]
    assert bankwise.cost(np.stack([lanes * 128] * 2), mask=[1, 3]).passes.tolist() == [1, 2]
    assert bankwise.cost(np.stack([lanes * 8] * 2), space="global").sectors.tolist() == [8, 8]
    assert bankwise.cost(lanes * 128) == bankwise.cost(COLUMN)
    assert bankwise.cost(np.zeros((0, 32), dtype=int)).passes.tolist() == []


def test_many_agree_with_one() -> None:
    np = pytest.importorskip("numpy")
    random = np.random.default_rng(1)
    for op, width, arch in [("load", 8, "sm_90"), ("store", 4, "sm_13"), ("atomic", 4, "sm_80"), ("load", 4, "gfx90a")]:
        addresses = random.integers(0, 512, (50, 32)) * width
        costs = bankwise.cost(addresses, width, op, arch)
        for i, row in enumerate(addresses.tolist()):
            assert tuple(int(numbers[i]) for numbers in costs) == tuple(bankwise.cost(row, width, op, arch))


def test_many_refusals() -> None:
    np = pytest.importorskip("numpy")
    good = np.arange(32) * 8
    with pytest.raises(ValueError, match="^access 1: "):
        bankwise.cost(np.stack([good, good + 4]), 8)
    with pytest.raises(ValueError, match="from 0 to 4294967295"):
        bankwise.cost(np.stack([good, good - 8]))
    with pytest.raises(ValueError, match="integers, not float64"):
        bankwise.cost(np.stack([good, good]).astype(float))
    with pytest.raises(ValueError, match="1 to 64 lanes"):
        bankwise.cost(np.zeros((2, 65), dtype=int))


def test_explain() -> None:
    explained = bankwise.explain("tile[tid][0]", array="float tile[32][32]")
    assert explained.cost == bankwise.cost(COLUMN)
    assert "passes 32, ideal 1" in str(explained) and "pass 1" in str(explained)
    assert explained._repr_html_().startswith("<svg")
    assert explained.numbers["architecture"] == "sm_90"
    assert bankwise.explain(COLUMN).cost == explained.cost
    assert bankwise.explain("tile[tx][ty]", array="float tile[N][N + 1]", block=(32, 8), values={"N": 32}).cost[0] == 1
    assert bankwise.explain("2*tid", space="global").cost == bankwise.SectorCost(8, 4, 2, 128)
    assert "<pre>" in bankwise.explain("2*tid", space="global")._repr_html_()


def test_explain_refuses() -> None:
    with pytest.raises(ValueError, match="negative"):
        bankwise.explain("tid - 1")
    with pytest.raises(ValueError, match="past the end"):
        bankwise.explain("tile[33][0]", array="float tile[32][32]")
