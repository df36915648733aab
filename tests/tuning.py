"""Let the engine treat small graphs as it does large ones."""

from __future__ import annotations

from elene.engine import policy


def tune(patch, **constants):
    """Set constants of the policy as long as the patch lasts."""
    patch.setattr(policy, "POLICY", policy.POLICY._replace(**constants))
