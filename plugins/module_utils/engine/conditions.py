# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of profile entries that only the node can answer: `when` and `waive`."""

import fnmatch
import time
from typing import Any, Dict, Optional

from . import rules
from .context import Context


def unmet(when: Optional[Dict[str, Any]], context: Context) -> str:
    """Why an entry does not apply to this node; nothing when it does. A fact that cannot be read meets no condition."""
    for fact, wanted in sorted((when or {}).items()):
        value = context.facts().get(fact)
        if value is None:
            return f"only when {fact} is {_words(wanted)}, which this node does not tell"
        if not _meets(wanted, value):
            return f"only when {fact} is {_words(wanted)}: here it is {value}"
    return ""


def waived(entry: Dict[str, Any], context: Context) -> Optional[Dict[str, Any]]:
    """The waiver that holds here today; the day of `until` still counts."""
    waive = entry.get("waive")
    if not waive:
        return None
    today = time.strftime("%Y-%m-%d", time.gmtime(context.host.now()))
    if str(waive.get("until", "")) < today:
        return None
    if waive.get("serial") and waive["serial"] != context.facts().get("serial"):
        return None
    return {key: str(waive[key]) for key in ("reason", "ticket", "until") if key in waive}


def _meets(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, list):
        return any(_meets(one, value) for one in wanted)
    if isinstance(wanted, dict):
        return rules.satisfied(wanted, value)
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    return fnmatch.fnmatchcase(str(value).lower(), str(wanted).lower())


def _words(wanted: Any) -> str:
    if isinstance(wanted, list):
        return " or ".join(_words(one) for one in wanted)
    return rules.words(wanted) if isinstance(wanted, dict) else str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
