# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the actions node_audit, node_apply and node_revert have in common: ask the node, keep its answer in the spool, return totals only."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ..module_utils.engine import outcome, states
from . import profile, spool, transport


def run(action: Any, what: str, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out `what` (audit, apply, revert) on the node of this action, with its options as validated.

    Whatever becomes of the node is written into the spool before it is returned or raised, so that a report knows of it.
    """
    folder = Path(str(options["spool"])) if options["spool"] else None
    record: dict[str, Any] = {
        "version": 1,
        "node": str(task_vars["inventory_hostname"]),
        "groups": [str(name) for name in task_vars.get("group_names", []) if name != "ungrouped"],
        "transport": "none",
        "started": spool.stamp(),
        "outcome": "failed",
    }
    begun = time.monotonic()
    try:
        compiled = _compiled(action, task_vars, folder) if what != "revert" else None
        if compiled is not None:
            record["profile_key"] = compiled["key"]
        answer = transport.ask(action, request(what, bool(action._task.check_mode), options, compiled), task_vars)
        record["transport"] = answer.transport
        if answer.response is None:
            record["error"] = answer.error
        else:
            record.update(outcome=answer.response["outcome"], response=answer.response)
            if "error" in answer.response:
                record["error"] = answer.response["error"]
    except AnsibleConnectionFailure as error:
        record.update(outcome="unreachable", error=str(error).strip())
        raise
    except AnsibleError as error:
        record["error"] = str(error)
        raise
    except BaseException as error:
        # The time limit of a task comes as an exception that is no Exception, and whose place differs from core to core.
        if "timeout" in type(error).__name__.lower():
            record.update(outcome="timed_out", error=f"no answer in {action._task.timeout} s, the time limit of the task")
        else:
            record["error"] = str(error) or type(error).__name__
        raise
    finally:
        record["duration_s"] = round(time.monotonic() - begun, 3)
        if folder is not None:
            spool.write(spool.node_file(folder, record["node"], what), record)
    return result(what, record, keep_response=folder is None)


def request(what: str, checking: bool, options: Mapping[str, Any], compiled: Mapping[str, Any] | None) -> dict[str, Any]:
    """The request for the engine."""
    made: dict[str, Any] = {
        "version": 1,
        "action": "check" if what == "apply" and checking else what,
        "run_id": str(options["run_id"] or spool.new_run_id()),
        "deadline_s": int(options["deadline_s"]),
        "root": str(options["root"]),
        "subsystems": {},
    }
    if compiled is not None:
        chosen = [str(name) for name in options["subsystems"] or compiled["subsystems"]]
        unknown = sorted(set(chosen) - set(compiled["subsystems"]))
        if unknown:
            raise AnsibleError(f"the profile has no subsystem {', '.join(unknown)}: it has {', '.join(sorted(compiled['subsystems']))}")
        made["subsystems"] = {name: compiled["subsystems"][name] for name in chosen}
    if what != "audit":
        made["disturb"] = str(options["disturb"])
    if what == "apply":
        made.update(take_over=bool(options["take_over"]), exclusive=True)
    if what == "revert":
        made.update(to=str(options["to"]), only=[str(name) for name in options["only"] or []])
    return made


def result(what: str, record: Mapping[str, Any], keep_response: bool) -> dict[str, Any]:
    """What Ansible gets to see: totals, and the changes as a difference; the rest is in the spool."""
    response = record.get("response", {})
    results = response.get("results", {})
    by_state = Counter(one["state"] for one in results.values() if not one.get("waived"))
    made: dict[str, Any] = {
        "changed": bool(response.get("changed")) and what != "audit",
        "outcome": record["outcome"],
        "transport": record["transport"],
        "by_state": dict(by_state),
        "differs": sorted(key for key, one in results.items() if not one.get("waived") and states.is_drift(one["state"], one["needs"])),
    }
    if what != "audit":
        made["diff"] = outcome.difference(results)
    if keep_response:
        made["response"] = dict(response)
    problem = outcome.problem(response) if record["outcome"] == "ok" else f"{record['outcome']}: {record.get('error', '')}"
    if problem:
        made.update(failed=True, msg=problem)
    return made


def _compiled(action: Any, task_vars: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    try:
        return profile.compile_for_host(
            task_vars, action._templar.template, profile.search_dirs(task_vars), folder / "profiles" if folder is not None else None
        )
    except profile.ProfileError as error:
        raise AnsibleError(str(error)) from error
