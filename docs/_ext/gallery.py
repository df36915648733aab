"""What the gallery asks of us: an order of its examples, and pictures of elene.plot, which pyplot knows nothing of."""

from pathlib import Path

ORDER = (
    "compare_two_graphs",
    "roles_in_a_novel",
    "unusual_spots_in_a_grid",
    "molecules_with_sklearn",
    "who_is_a_broker",
    "link_prediction_with_pairs",
    "your_own_data_set",
    "elene_l_in_three_lines",
    "what_a_model_learned",
    "big_network_from_the_command_line",
    "a_network_that_changes",
    "brec_without_learning",
)
SEEN = {}  # by script: figures that have their image


def in_order(file_name):
    """Where a script stands in the gallery."""
    return ORDER.index(Path(file_name).stem)


def scrape_pictures(block, block_vars, gallery_conf):
    """The figures that a block bound to names and that pyplot does not manage, as images of its page.

    It goes before the scraper of pyplot's figures, which closes them.
    """
    from matplotlib import pyplot
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    seen = SEEN.setdefault(block_vars["src_file"], [])
    seen += [pyplot.figure(number) for number in pyplot.get_fignums()]
    paths = []
    for figure in list(block_vars["example_globals"].values()):
        if not isinstance(figure, Figure) or any(figure is other for other in seen):
            continue
        seen.append(figure)
        path = next(block_vars["image_path_iterator"])
        figure.savefig(path, dpi=160)
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
