"""Ledgers of BREC: results of pairs in files that outlive an interruption, and what they add up to."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("torch")

from brec_pairs import cycles, pair_of, result_of, small

from elene.brec import ledger as ledgers
from elene.brec.ledger import Ledger, run_pairs, tallies
from made_up import ORIGIN, origin


@pytest.fixture
def six(monkeypatch):
    """Six pairs; those with odd numbers are told apart, by what takes no time."""
    monkeypatch.setattr(ledgers, "run_pair", lambda pair, spec, seed: result_of(pair, pair.index % 2 == 1))
    return [pair_of(*cycles, index, "Basic" if index < 4 else "CFI") for index in range(6)]


def test_judging_goes_on_where_it_stopped(tmp_path, six, monkeypatch):
    def interrupted(pair, spec, seed):
        if pair.index == 3:
            raise KeyboardInterrupt
        return result_of(pair)

    with monkeypatch.context() as patch:
        patch.setattr(ledgers, "run_pair", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(run_pairs(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0), six))
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    assert [verdict.pair for verdict in run_pairs(ledger, six)] == [3, 4, 5]
    assert sorted(Ledger.read(ledger.path).pairs) == list(range(6))
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]


def test_a_ledger_is_read_as_it_was_written(tmp_path, six):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=3)
    list(run_pairs(ledger, six[::-1]))
    again = Ledger.read(ledger.path)
    assert again.setting == ledger.setting
    assert again.pairs == ledger.pairs
    assert again.setting.spec == small("gin")
    assert list(again.pairs) == list(range(6))


def test_other_settings_and_seeds_have_other_ledgers(tmp_path):
    gin, other = small("gin"), small("gin", "training.epochs=3")
    wanted = [(gin, ORIGIN, 0), (gin, ORIGIN, 1), (other, ORIGIN, 0), (small("ngnn"), ORIGIN, 0)]
    wanted += [(gin, origin("beef"), 0), (gin, origin(data="f" * 64), 0)]
    assert len({Ledger.open(tmp_path, *each).path for each in wanted}) == 6


@pytest.mark.parametrize("damage", ["", "{}\n", "not JSON\n", "SETTING\n{\n", 'SETTING\n{"pair": 1}\n'])
def test_a_damaged_ledger_is_named(tmp_path, six, damage):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    list(run_pairs(ledger, six))
    ledger.path.write_text(damage.replace("SETTING", ledger.path.read_text().splitlines()[0]))
    with pytest.raises(ValueError, match=r"-seed0\.jsonl has no results of this version: .*; delete it"):
        Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)


def test_tallies(tmp_path, six):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    list(run_pairs(ledger, six))
    [tally] = tallies(tmp_path)
    assert (tally.method, tally.told_apart, tally.tried) == ("GIN", {"Basic": 2, "CFI": 1}, {"Basic": 4, "CFI": 2})
    assert (tally.total, tally.of, tally.unreliable, tally.seconds) == (3, 6, 0, 9.0)
    ledger.add(result_of(six[1], distinguished=False, reliable=False))
    list(run_pairs(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=1), six[4:]))
    first, second = tallies(tmp_path)
    assert (first.told_apart["Basic"], first.unreliable) == (1, 1)
    assert second.tried == {"CFI": 2}
    assert {first.method.rpartition("-")[2], second.method.rpartition("-")[2]} == {"seed0", "seed1"}


def test_verdicts_of_older_code_do_not_count(tmp_path, six):
    newer = origin("beef", committed="2026-02-01T00:00:00Z")
    list(run_pairs(Ledger.open(tmp_path, small("gin"), newer, seed=0), six[:2]))
    list(run_pairs(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0), six))
    [tally] = tallies(tmp_path)
    assert (tally.method, tally.of) == ("GIN", 2)
