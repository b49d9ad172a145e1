"""What the scripts share: steps that report themselves, and the clients of the contexts in KUBECONFIG."""
import json
import os
import sys
import traceback

from kubernetes import client, config

NAMESPACE = os.environ["NAMESPACE"]
GROUP_SUFFIX = os.environ["GROUP_SUFFIX"]
STEPS = []


def step(function):
    STEPS.append(function)
    return function


def run():
    """Runs every step, in the order in which they are written. One that fails does not keep the others from running."""
    failed = False
    for function in STEPS:
        report = {"step": function.__name__.replace("_", " ")}
        try:
            function()
        except Exception:  # pylint: disable=broad-except
            failed = True
            report["error"] = traceback.format_exc()
        print(json.dumps(report), flush=True)
    sys.exit(1 if failed else 0)


def equal(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def fails(status, function, *args, **kwargs):
    """Calls what the server must refuse with this code; answers the Status of the refusal."""
    try:
        function(*args, **kwargs)
    except client.exceptions.ApiException as error:
        equal(error.status, status, f"code of the refusal ({error.body})")
        body = error.body if isinstance(error.body, str) else error.body.decode()
        return json.loads(body)
    raise AssertionError(f"{function} was not refused with {status}")


def api_client(context="admin"):
    return config.new_client_from_config(context=context)


def names(items):
    return [item.metadata.name for item in items]
