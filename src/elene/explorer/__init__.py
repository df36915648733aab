"""The explorer: ego-networks, pairs and comparisons on a page of this machine; ``elene explore`` opens it.

Views (:mod:`~elene.explorer.ego`, :mod:`~elene.explorer.pair`, :mod:`~elene.explorer.beside`) are plain data that needs
no browser; :mod:`~elene.explorer.page` shows them. Needs Dash: ``pip install "elene[explorer]"``.
"""
