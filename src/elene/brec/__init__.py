"""BREC: how many of its 400 pairs encodings and trained networks tell apart, and who else does.

``tally`` counts pairs, whoever told them apart: ``encodings`` learn nothing, ``rpc`` is BREC's protocol for networks,
and ``ledger`` the file of its results; ``standings`` puts all of them in order. On the command line: ``elene brec``.
"""
