# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one bridge between AnsibleModule and the engine. Nothing is decided here but what Ansible calls changed and failed."""

from ansible.module_utils.basic import AnsibleModule

from .engine import outcome, requests, run

#: Options that every module with one subsystem has.
SETTINGS = {
    "settings": {"type": "dict", "required": True},
    "disturb": {"type": "str", "choices": ["nothing", "jitter", "job"], "default": "nothing"},
    "take_over": {"type": "bool", "default": False},
    "exclusive": {"type": "bool", "default": False},
    "deadline_s": {"type": "int", "default": 60},
}


def one_subsystem(name: str) -> None:
    """A module for one subsystem: look in check mode, mend otherwise."""
    module = AnsibleModule(argument_spec=dict(SETTINGS), supports_check_mode=True)
    try:
        entries = requests.entries(module.params["settings"])
    except ValueError as error:
        module.fail_json(msg=str(error))
    request = {"version": 1, "action": "check" if module.check_mode else "apply", "run_id": f"module-{name}", "subsystems": {name: entries}}
    request.update({key: module.params[key] for key in ("disturb", "take_over", "exclusive", "deadline_s")})
    response = run.handle(request)
    result = {key: response[key] for key in ("changed", "results", "node", "notes", "outcome")}
    result["diff"] = outcome.difference(response["results"])
    problem = outcome.problem(response)
    if problem:
        module.fail_json(msg=problem, **result)
    module.exit_json(**result)


def whole_request(options: dict) -> None:
    """A module that carries out a request which its action plugin has made, where no faster way leads to the node."""
    module = AnsibleModule(argument_spec=options, supports_check_mode=True, no_log=True)
    if not module.params.get("request"):
        module.fail_json(msg="this module is called by its action plugin, which fills in the request")
    module.exit_json(changed=False, response=run.handle(module.params["request"]))
