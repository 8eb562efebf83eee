# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON schema of `drift.json`. A change that a reader of the old form would trip over gets a new number in its name."""

from __future__ import annotations

from typing import Any

from .words import CAUSES, IMPACTS, NEEDS, OUTCOMES, STATES, VERDICTS, VIEWS

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TEXT_MAP = {"type": "object", "additionalProperties": TEXT}
COUNT = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object that holds these keys and no others."""
    return {
        "type": "object",
        "required": sorted(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


VIEW = {
    "oneOf": [
        _object({"value": TEXT}, {"from": TEXT}),
        _object({"error": TEXT}, {"from": TEXT}),
        _object({"unset": TEXT}, {"from": TEXT}),
    ]
}

RULE = {
    "oneOf": [
        _object({"exact": {"type": ["string", "integer"]}}),
        _object({"at_least": {"type": ["string", "integer"]}}, {"set": {"type": ["string", "integer"]}}),
        _object({"between": {"type": "array", "minItems": 2, "maxItems": 2}}, {"set": {"type": ["string", "integer"]}}),
        _object({"one_of": {"type": "array", "minItems": 1}}, {"set": {"type": ["string", "integer"]}}),
    ]
}

RESULT = _object(
    {
        "state": {"enum": list(STATES)},
        "needs": {"enum": list(NEEDS)},
        "views": {"type": "object", "properties": dict.fromkeys(VIEWS, VIEW), "additionalProperties": False},
    },
    {
        "rule": TEXT,
        "desired": TEXT,
        "cause": {"enum": list(CAUSES)},
        "winner": TEXT_MAP,
        "detail": TEXT,
        "blocked_by": TEXTS,
        "waived": TEXT_MAP,
        "since": _object({"run": TEXT, "started": TIME}, {"before": {"enum": list(STATES)}}),
        "changes": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": ["string", "boolean"]}}},
    },
)

NODE = _object(
    {
        "name": TEXT,
        "groups": TEXTS,
        "outcome": {"enum": list(OUTCOMES)},
        "transport": TEXT,
        "duration_s": {"type": "number", "minimum": 0},
        "facts": {"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}},
        "results": {"type": "object", "additionalProperties": RESULT},
        "notes": TEXTS,
        "faults": {"type": "array", "items": _object({"subsystem": TEXT, "error": TEXT})},
    },
    {"error": TEXT, "profile_key": TEXT},
)

WAIVER = _object(
    {
        "setting": TEXT,
        "reason": TEXT,
        "until": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "days": {"type": "integer"},
        "nodes": COUNT,
        "needed_by": TEXTS,
    },
    {"ticket": TEXT, "serial": TEXT},
)

DOCUMENT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "gpufleet.node/drift/1",
    "title": "The differences of a fleet from its desired state",
    **_object(
        {
            "version": {"const": 1},
            "schema": {"const": "gpufleet.node/drift/1"},
            "run": _object(
                {
                    "id": TEXT,
                    "action": TEXT,
                    "started": TIME,
                    "finished": TIME,
                    "controller": TEXT_MAP,
                    "profiles": {"type": "object", "additionalProperties": _object({"profile": TEXT, "files": TEXTS})},
                },
                {"faults": TEXTS, "redacted": {"const": True}},
            ),
            "verdict": {"enum": list(VERDICTS)},
            "totals": _object(
                {
                    "nodes": _object({"asked": COUNT, **dict.fromkeys(OUTCOMES, COUNT)}),
                    "settings": _object(
                        {
                            "asked": COUNT,
                            "judged": COUNT,
                            "by_state": {"type": "object", "properties": dict.fromkeys(STATES, COUNT), "additionalProperties": False},
                            "waived": COUNT,
                        }
                    ),
                    "faults": COUNT,
                }
            ),
            "settings": {
                "type": "object",
                "additionalProperties": _object(
                    {"subsystem": TEXT},
                    {
                        "impact": {"enum": list(IMPACTS)},
                        "disturbs": {"enum": ["nothing", "jitter", "job"]},
                        "owner": TEXT,
                        "mend": {"enum": ["always", "never"]},
                        "why": TEXT,
                        "source": TEXT,
                    },
                ),
            },
            "rules": {"type": "object", "additionalProperties": RULE},
            "waivers": {"type": "array", "items": WAIVER},
            "nodes": {"type": "array", "items": NODE},
        }
    ),
}
