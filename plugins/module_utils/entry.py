# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one bridge between AnsibleModule and the engine. Nothing is decided here but what Ansible calls changed and failed."""

from ansible.module_utils.basic import AnsibleModule

from . import options
from .engine import outcome, requests, run


def one_subsystem(name: str) -> None:
    """A module for one subsystem: look in check mode, mend otherwise."""
    module = AnsibleModule(argument_spec=dict(options.SETTINGS), supports_check_mode=True)
    try:
        entries = requests.entries(module.params["settings"])
    except ValueError as error:
        module.fail_json(msg=str(error))
    action = "check" if module.check_mode else "apply"
    request = {"version": 1, "action": action, "run_id": run.name_of_run(name), "subsystems": {name: entries}}
    request.update({key: module.params[key] for key in ("disturb", "take_over", "exclusive", "deadline_s", "root")})
    response = run.handle(request)
    # Ansible takes a key of the name `results` for the results of a loop.
    result = dict({key: response[key] for key in ("changed", "node", "notes", "outcome", "run_id")}, settings=response["results"])
    result["diff"] = outcome.difference(response["results"])
    problem = outcome.problem(response)
    if problem:
        module.fail_json(msg=problem, **result)
    module.exit_json(**result)


def whole_request(name: str) -> None:
    """A module that carries out a request which its action plugin has made, where no faster way leads to the node."""
    module = AnsibleModule(argument_spec=dict(options.OF_MODULE[name]), supports_check_mode=True, no_log=True)
    if not module.params.get("request"):
        module.fail_json(msg="this module is called by its action plugin, which fills in the request")
    module.exit_json(changed=False, response=run.handle(module.params["request"]))
