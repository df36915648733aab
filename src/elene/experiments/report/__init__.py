"""All results on one page, as Markdown and as HTML."""
