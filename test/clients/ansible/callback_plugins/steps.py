"""Reports tasks of a playbook as the steps of a script: one line of JSON for each, with an error where it failed."""
import json

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: steps
type: stdout
short_description: one line of JSON for each task
description: one line of JSON for each task
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "steps"

    def _report(self, result, error=None):
        report = {"step": result._task.get_name()}
        if error is not None:
            report["error"] = error
        self._display.display(json.dumps(report))

    def v2_runner_on_ok(self, result):
        self._report(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._report(result, self._dump_results(result._result))

    def v2_runner_on_unreachable(self, result):
        self._report(result, self._dump_results(result._result))
