"""Loaded by Schemathesis (SCHEMATHESIS_HOOKS): what the check of the API's description cannot know. All else is strict.

Waits: a request may wait for up to 25 seconds, but the check gives up after 8. So waits become short. The API keeps the
wait that a caller asks for, because an earlier empty answer would have idle workers send three times as many requests.
"""

import re

import schemathesis

SHORT = {"body": 0.2, "query": 0}

# Requests that are rightly refused with 400, although no JSON Schema says why. By the path of the operation, how the
# detail of the refusal begins:
# - syntax errors of a notation within a text, which no regular expression describes because it nests: of a search,
#   a tuple and a template;
# - tuples of another form than the tasks and results of their spaces.
# They stay 400, because a program that sends them is wrong whatever the state of the coordinator is.
REFUSED = {
    "/api/v1/search": r"q: query ",
    "/api/v1/spaces/{space}/tuples": r"template: ",
    "/api/v1/spaces/{space}/get": r"template: ",
    "/api/v1/spaces/{space}/query": r"template: ",
    "/api/v1/spaces/{space}/put": r"tuple: |putp (task|result): ",
    "/api/v1/transactions": r"operation \d+ of \d+: (template|tuple): |.*(put|putp) (task|result): ",
}


@schemathesis.hook
def before_call(context, case, kwargs):
    for place, most in SHORT.items():
        fields = getattr(case, place)
        for name in ("wait", "wait_s"):
            wait = fields.get(name) if hasattr(fields, "get") else None
            if isinstance(wait, str) and wait.isdigit():
                wait = int(wait)
            if type(wait) in (int, float) and most < wait <= 25:
                fields[name] = most


@schemathesis.hook
def filter_failure(context, failure, case, response):
    beginning = REFUSED.get(case.operation.path)
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400 or not beginning:
        return True
    return not re.match(beginning, response.json()["detail"])
