"""The table of data sets: task, metric, split, sizes, hashes and sources are data here, not code elsewhere."""

from __future__ import annotations

from difflib import get_close_matches

from elene.datasets.info import GENERATED, STORED, DatasetInfo, Edition

_EXPRESSIVITY, _SUBSTRUCTURES, _PROXIMITY = "Expressivity", "Structure", "Long range"
_MOLECULES, _BENCHMARKS, _TU = "Molecules", "Benchmarking GNNs", "TU"

_ATOMS, _BONDS = (119, 5, 12, 12, 10, 6, 6, 2, 2), (5, 6, 2)
_OGB = "https://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/"
_BENCHMARKING = "https://data.pyg.org/datasets/benchmarking-gnns/"
_ZINC = "https://www.dropbox.com/s/feo9qle74kg48gy/molecules.zip?dl=1"
_TU_ADDRESS = "https://www.chrsmrrs.com/graphkerneldatasets/"
_RNI = "Abboud et al., The surprising power of GNNs with random node initialization (IJCAI 2021)"
_DWIVEDI = "Dwivedi et al., Benchmarking GNNs (JMLR 2023), MIT licence"
_HU = "Hu et al., Open Graph Benchmark (NeurIPS 2020), MIT licence; from MoleculeNet"
_MORRIS = "Morris et al., TUDataset (2020)"
_PAPER_H = (117.14, 1484.82)


def _family(name: str, title: str, edition: Edition, credit: str) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        title=title,
        family=_EXPRESSIVITY,
        task="classification",
        metric="accuracy",
        outputs=edition.graphs,
        split="all",
        editions=(edition,),
        paper=(25, 300) if name == "sr25" else None,
        credit=credit,
        note="A class for each graph: train is test, and the question is whether a model tells all graphs apart.",
    )


def _proximity(h: int, nodes: int, arcs: int, sha256: str) -> DatasetInfo:
    return DatasetInfo(
        name=f"proximity-{h}",
        title=f"{h}-Proximity",
        family=_PROXIMITY,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="folds",
        editions=(
            Edition(GENERATED, 9000, nodes, arcs, sha256, note="Generated afresh by the published recipe, seed 0."),
        ),
        paired=True,
        validation=10,
        node_categories=(10,),
        paper=None if h == 1 else _PAPER_H,
        credit="task by Abboud et al., Shortest path networks for graph property prediction (LoG 2022)",
        note="A negative has one edge more than its partner, so that counts alone say something: see count_control.",
    )


def _tu(name: str, title: str, categories: int, stored: Edition, pyg_name: str) -> DatasetInfo:
    classes = {"enzymes": 6, "imdbmulti": 3}.get(name, 2)
    # PyG and the stored copies agree on these numbers, except where the stored one says so in its label.
    same = (None, None) if stored.label else (stored.nodes, stored.arcs)
    published = Edition(f"{_TU_ADDRESS}{pyg_name}.zip", stored.graphs, *same, note="The published files, by PyG.")
    return DatasetInfo(
        name=f"tu-{name}",
        title=title,
        family=_TU,
        task="classification",
        metric="accuracy",
        outputs=classes,
        split="folds",
        editions=(stored, published),
        node_categories=(categories,),
        credit=_MORRIS,
    )


def _stored_tu(graphs: int, nodes: int, arcs: int, sha256: str, label: str = "") -> Edition:
    note = "A copy from the code of DGCNN (MIT licence), with node labels."
    return Edition(STORED, graphs, nodes, arcs, sha256, label, note)


_CONSTRUCTED = "Built from mathematics."
_SR16 = Edition(
    GENERATED, 2, 32, 192, "be4fd25d3153917022e940c63b8dc744bc6b1b6f9152d5f59ae476b7d3f9a70e", note=_CONSTRUCTED
)
_SR25 = Edition(
    GENERATED, 15, 375, 4500, "a2cf809f7d22d4517710afb5fddfe2871ddab6204d536fb199cfdd032bb15a56", note=_CONSTRUCTED
)
_SR28 = Edition(
    GENERATED, 4, 112, 1344, "2fea542f3edcf0a261bc8215711c37b2e3dceee9b98cf874bfaa1df953e02761", note=_CONSTRUCTED
)

_EXPRESSIVITY_ROWS = (
    _family("rook-shrikhande", "Rook and Shrikhande", _SR16, "Shrikhande (1959)"),
    _family("sr16", "SR16: SRG(16,6,2,2)", _SR16, "Shrikhande (1959): the Rook and the Shrikhande graph"),
    _family("sr25", "SR25: SRG(25,12,5,6)", _SR25, "Paulus (1973)"),
    _family("sr28", "SR28: SRG(28,12,6,4)", _SR28, "Chang (1960): the triangular graph T(8) and three more"),
    DatasetInfo(
        name="exp",
        title="EXP",
        family=_EXPRESSIVITY,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="all",
        editions=(
            Edition(
                STORED,
                1200,
                53336,
                132260,
                "75e2b81441bcf37fb030ee4a58a514fcb2d43d987c31fb167b6d0386c3c6a19b",
                note="A copy of the published graphs.",
            ),
        ),
        paired=True,
        node_categories=(2,),
        paper=(44.4, 110.2),
        credit=_RNI,
        note="600 pairs that 1-WL cannot tell apart, with opposite labels. Train is test, as in the paper's protocol.",
    ),
    DatasetInfo(
        name="cexp",
        title="CEXP",
        family=_EXPRESSIVITY,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="folds",
        editions=(
            Edition(
                STORED,
                1200,
                66938,
                167472,
                "fc93306a413e88bd1146632e4b904f0673eaca3c60c60566529f7c11ae1f0924",
                note="A copy of the published graphs.",
            ),
        ),
        paired=True,
        node_categories=(2,),
        credit=_RNI,
        note="600 pairs with opposite labels; 1-WL cannot tell apart half of the pairs.",
    ),
    DatasetInfo(
        name="csl",
        title="CSL",
        family=_EXPRESSIVITY,
        task="classification",
        metric="accuracy",
        outputs=10,
        split="folds",
        editions=(
            Edition(
                STORED,
                150,
                6150,
                24600,
                "6d97db4ab750f0d2822f17b9858ba03479a0072793c9f5872bf1c1bbc014d838",
                note="A copy of the published graphs.",
            ),
            Edition(
                "https://www.dropbox.com/s/rnbkp5ubgk82ocu/CSL.zip?dl=1",
                150,
                6150,
                24600,
                note="The published files, by PyG.",
            ),
        ),
        credit="Murphy et al., Relational pooling (ICML 2019); " + _DWIVEDI,
        note="15 relabelled copies of each of 10 circular skip-link graphs.",
    ),
    DatasetInfo(
        name="brec",
        title="BREC",
        family=_EXPRESSIVITY,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="all",
        editions=(
            Edition(
                STORED,
                800,
                27804,
                229504,
                "183dbd8c5adcade9f522bc93ed6459fd60452cd238260b3b33e54afafde227a4",
                note="The published graphs, as graph6.",
            ),
        ),
        paired=True,
        credit="Wang and Zhang, BREC (ICML 2024), MIT licence",
        note="400 pairs to tell apart, each on its own; y says which graph of its pair it is.",
    ),
)

_SUBSTRUCTURE_ROWS = (
    DatasetInfo(
        name="counting",
        title="Counting substructures",
        family=_SUBSTRUCTURES,
        task="regression",
        metric="mae",
        outputs=4,
        split="fixed",
        editions=(
            Edition(
                GENERATED,
                5000,
                93750,
                312500,
                "734bab86457202bd3f4c70d176dcc1d6c96eb14e6fd0ce39d5d16a9fad8f598c",
                note="Generated afresh by the published recipe, seed 0.",
            ),
        ),
        targets=("triangle", "tailed_triangle", "star", "cycle4"),
        scaled=True,
        paper=(18.8, 62.6),
        credit="recipe by Chen et al., Can GNNs count substructures? (NeurIPS 2020)",
        note="One model for each target. Not the published graphs, but the same recipe and split sizes.",
    ),
    DatasetInfo(
        name="counting-er",
        title="Counting substructures (Erdos-Renyi)",
        family=_SUBSTRUCTURES,
        task="regression",
        metric="mae",
        outputs=5,
        split="fixed",
        editions=(
            Edition(
                STORED,
                5000,
                50000,
                134970,
                "6c8dfe5e6acf3403ed2d1ad6772dbb6e5574b6d99e4e7b4e6b3d262681b81cb1",
                note="A copy of published graphs, a sibling of those that the paper used.",
            ),
        ),
        targets=("triangle", "tailed_triangle", "star", "chordal_cycle", "attributed_triangle"),
        scaled=True,
        credit="Chen et al., Can GNNs count substructures? (NeurIPS 2020)",
        note="The node attributes behind attributed_triangle are not in the file.",
    ),
    DatasetInfo(
        name="graph-properties",
        title="Graph properties",
        family=_SUBSTRUCTURES,
        task="regression",
        metric="log10_mse",
        outputs=4,
        split="fixed",
        editions=(
            Edition(
                GENERATED,
                7040,
                132480,
                680426,
                "b7ce3cf319e9da06a6e88616705bce69203ca2dcf256eee639d0a41594d5219a",
                note="Generated afresh by the published recipe, seed 1234.",
            ),
        ),
        targets=("connected", "diameter", "radius", "connected_released"),
        node_categories=None,
        paper=(19.5, 101.1),
        credit="recipe by Corso et al., Principal neighbourhood aggregation (NeurIPS 2020)",
        note="One model for each target. Each target is divided by its maximum over the training graphs; the paper's "
        "averages are those of the training graphs. connected_released is the label of the published numbers, which "
        "calls connected bipartite graphs not connected.",
    ),
)

_PROXIMITY_ROWS = (
    _proximity(1, 1058280, 13422260, "06d4beb999acdf46725b228ae2abadc2f4cdbea152d23d495a2d7bef6635cdb2"),
    _proximity(3, 1046632, 13208352, "0c32750370a3355fb17fa09d29f721c0f69f89054efd2a7b7c75c51c95851f84"),
    _proximity(5, 1049526, 13223832, "d5b9de37a0c9955f2060bcaf9e4771548520c67d24573fa81e3735654f7f75f0"),
    _proximity(8, 1054956, 13436456, "d68a7d4299c3b96a2710bc95dab2e80341c8f4092676cb7c2a07bc159ab0c6ad"),
    _proximity(10, 1061622, 13487128, "8a9ec037cbd374b1abdedc9053893de44c4fb0bfa0362ec00e74479b05d54043"),
)

_MOLECULE_ROWS = (
    DatasetInfo(
        name="zinc12k",
        title="ZINC-12K",
        family=_MOLECULES,
        task="regression",
        metric="mae",
        outputs=1,
        split="fixed",
        editions=(
            Edition(
                STORED,
                12000,
                277381,
                596522,
                "f2cec12c43e199e2e28c9de0c1b41ff839b399c512c7876e567173864a22e707",
                "substitute train",
                "Validation and test are the published ones; the 10,000 training molecules are drawn from the same "
                "pool, but are not the published ones. Results are to be reported as ZINC-12K, substitute train.",
            ),
            Edition(_ZINC, 12000, 277864, note="The published files, by PyG."),
        ),
        targets=("penalised_logp",),
        node_categories=(28,),
        edge_categories=(4,),
        paper=(23.1, 49.8),
        credit=_DWIVEDI + "; molecules: Irwin et al., ZINC (2012)",
    ),
    DatasetInfo(
        name="zinc250k",
        title="ZINC-250K",
        family=_MOLECULES,
        task="regression",
        metric="mae",
        outputs=1,
        split="fixed",
        editions=(
            Edition(
                STORED,
                249455,
                5775223,
                12423968,
                "e3f23b78988d34a209e7d1c0db1cd19099c635541508126f9c084aff2f174c3a",
                "rebuilt",
                "Rebuilt from SMILES, with targets computed anew: they agree to 4e-7 with 1998 of 2000 published ones.",
            ),
            Edition(_ZINC, 249456, note="The published files, by PyG."),
        ),
        targets=("penalised_logp",),
        node_categories=(28,),
        edge_categories=(4,),
        credit=_DWIVEDI + "; molecules: Irwin et al., ZINC (2012)",
        note="For throughput and pre-training.",
    ),
    DatasetInfo(
        name="molhiv",
        title="ogbg-molhiv",
        family=_MOLECULES,
        task="binary",
        metric="roc_auc",
        outputs=1,
        split="fixed",
        editions=(
            Edition(
                STORED,
                41127,
                1049163,
                2259376,
                "0802be80d0c8710d0420fa2f52355c354b1e1ef77408f9e50a98800164408061",
                "rebuilt",
                "Rebuilt from SMILES with OGB's featuriser and split. The features were not compared with a download, "
                "and chirality and bond stereo are 0 throughout.",
            ),
            Edition(f"{_OGB}hiv.zip", 41127, 1049163, 2259376, note="The published files."),
        ),
        targets=("hiv_active",),
        node_categories=_ATOMS,
        edge_categories=_BONDS,
        paper=(25.5, 54.1),
        credit=_HU,
    ),
    DatasetInfo(
        name="molpcba",
        title="ogbg-molpcba",
        family=_MOLECULES,
        task="multilabel",
        metric="ap",
        outputs=128,
        split="fixed",
        editions=(Edition(f"{_OGB}pcba.zip", 437929, note="The published files."),),
        node_categories=_ATOMS,
        edge_categories=_BONDS,
        paper=(25.6, 55.4),
        credit=_HU,
        note="Labels are missing (NaN) in many places; AP is averaged over the labels.",
    ),
)

_BENCHMARK_ROWS = (
    DatasetInfo(
        name="pattern",
        title="PATTERN",
        family=_BENCHMARKS,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="fixed",
        editions=(Edition(f"{_BENCHMARKING}PATTERN_v2.zip", 14000, 1664491, note="The published files, by PyG."),),
        level="node",
        node_categories=(3,),
        paper=(118.9, 6079.8),
        credit=_DWIVEDI,
        note="Published tables give the mean of both classes' accuracies.",
    ),
    DatasetInfo(
        name="pattern-generated",
        title="PATTERN, generated",
        family=_BENCHMARKS,
        task="classification",
        metric="accuracy",
        outputs=2,
        split="fixed",
        editions=(
            Edition(
                GENERATED,
                14000,
                1652797,
                83829784,
                "025c50aa0842f2f3aaebd98a75d9bf3fd36446b17b8a853cf63a36e128382285",
                note="Generated afresh by the published recipe, seed 0.",
            ),
        ),
        level="node",
        node_categories=(3,),
        paper=(118.9, 6079.8),
        credit="recipe by " + _DWIVEDI,
        note="Not the published graphs. Published tables give the mean of both classes' accuracies.",
    ),
    DatasetInfo(
        name="cifar10",
        title="CIFAR10",
        family=_BENCHMARKS,
        task="classification",
        metric="accuracy",
        outputs=10,
        split="fixed",
        editions=(
            Edition(
                f"{_BENCHMARKING}CIFAR10_v2.zip",
                60000,
                7058005,
                note="The published files, by PyG, with every arc's reverse added: the mean of two weights where both "
                "directions were there.",
            ),
        ),
        node_categories=None,
        paper=(117.6, 1129.8),
        credit=_DWIVEDI,
        note="Super-pixels, each joined to its 8 nearest. Colour and position are the five columns of x.",
    ),
)

_TU_ROWS = (
    _tu(
        "mutag",
        "MUTAG",
        7,
        _stored_tu(188, 3371, 7442, "233e03b47b48dc90e3693c48acfec85d1adbb20eebc503db0c4e7ec703686f8d"),
        "MUTAG",
    ),
    _tu(
        "proteins",
        "PROTEINS",
        3,
        _stored_tu(1113, 43471, 162088, "946cd59d3cd22267d5405fc7befbe8825311157b7f73dada539fdee0f441e953"),
        "PROTEINS",
    ),
    _tu(
        "nci1",
        "NCI1",
        37,
        _stored_tu(4110, 122747, 265506, "1aaf503bfa3f705d30c308e02e420b7372d2a991531ace43514e1087ddf0b87f"),
        "NCI1",
    ),
    _tu(
        "nci109",
        "NCI109",
        38,
        _stored_tu(4127, 122494, 265208, "3c745c6134d75370faa2531104158fdbea48c46812b5d6401bd04fbf6ac45ab8"),
        "NCI109",
    ),
    _tu(
        "ptc",
        "PTC",
        22,
        _stored_tu(
            344, 8792, 17862, "8f3032ac40001f2f36bc70bdc32cb39fc9e6ca1e37a5a6b03972789395c6e4a2", "with hydrogens"
        ),
        "PTC_MR",
    ),
    _tu(
        "enzymes",
        "ENZYMES",
        3,
        _stored_tu(600, 19580, 74564, "c76c729cffc4f3445da881a38424b6a80f001a2e1ef78e12a25cd5b50d20767a"),
        "ENZYMES",
    ),
    _tu(
        "imdbbinary",
        "IMDB-BINARY",
        1,
        _stored_tu(1000, 19773, 193062, "60e0ef1d31f56fad99bd00b82de6662eaa7f83aa7f5a69dac7abc30f3a74db94"),
        "IMDB-BINARY",
    ),
    _tu(
        "imdbmulti",
        "IMDB-MULTI",
        1,
        _stored_tu(1500, 19502, 197806, "7f8582612a8ec96957da4d08b5efc973772e781a8ed626715cb17988d5953658"),
        "IMDB-MULTI",
    ),
)

DATASETS: tuple[DatasetInfo, ...] = (
    *_EXPRESSIVITY_ROWS,
    *_SUBSTRUCTURE_ROWS,
    *_PROXIMITY_ROWS,
    *_MOLECULE_ROWS,
    *_BENCHMARK_ROWS,
    *_TU_ROWS,
)
_BY_NAME = {info.name: info for info in DATASETS}


def find(name: str) -> DatasetInfo:
    """The row of a data set.

    >>> find("zinc12k").metric
    'mae'
    >>> find("zink12k")
    Traceback (most recent call last):
    ...
    ValueError: name 'zink12k' is not a data set; did you mean 'zinc12k'? `elene datasets` lists all of them
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        close = get_close_matches(str(name), _BY_NAME, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"name {name!r} is not a data set; {hint}`elene datasets` lists all of them")
    return _BY_NAME[name]
