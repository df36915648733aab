"""BREC: 2-FWL alone must give the published 3-WL row, which calibrates the count of the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from elene.brec.encodings import count_encodings
from elene.datasets import read_brec

PAIRS = Path(os.environ.get("ELENE_DATA", "")) / "brec_pairs.tsv"


@pytest.mark.skipif(not PAIRS.is_file(), reason="ELENE_DATA does not name a folder with brec_pairs.tsv")
def test_the_whole_of_brec():
    totals = {tally.method: tally.total for tally in count_encodings(read_brec(PAIRS))}
    assert totals["2-FWL"] == 270
    assert totals["ED, k=1..4 + 1-WL"] >= 280
    assert totals["PD, k=1..4"] == 306
    assert totals["PD, k=1..4 + 2-FWL"] == 356
