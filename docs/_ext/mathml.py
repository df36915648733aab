"""Equations as MathML, made by docutils: browsers draw it themselves, so that no page needs a script from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

# What docutils does not know: sizes of brackets, which browsers stretch by themselves, and a synonym.
UNKNOWN = {re.compile(r"\\[Bb]igg?[lr]?(?![a-z])"): "", re.compile(r"\\dots\b"): r"\\ldots"}


def _mathml(node, **options):
    equation = node.astext()
    for pattern, known in UNKNOWN.items():
        equation = pattern.sub(known, equation)
    try:
        return tex2mathml(equation, **options)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in %s", error, equation, location=node)
        return f"<code>{equation}</code>"


def _inline(translator, node):
    translator.body.append(_mathml(node))
    raise nodes.SkipNode


def _block(translator, node):
    # Equations beside each other would be wider than a page: each gets a line.
    for equation in node.astext().split(r"\qquad"):
        translator.body.append(f'<div class="equation">{_mathml(nodes.math("", equation), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
