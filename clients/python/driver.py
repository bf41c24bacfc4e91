"""Does with the client what lines on its input say, for clients/conformance_test.go.

A line is a JSON object: do is one of the verbs below, the other fields are its arguments. The answer is a line with ok, or
with error. Handlers of tasks print lines with event meanwhile.
"""

import asyncio
import json
import os
import sys
import threading
import time

import leasehold

LOCK = threading.Lock()  # of the output
CLIENTS, SESSIONS, TASKS, LATER = {}, {}, {}, set()
RUNNING, CHANGED = set(), threading.Condition()  # ids of tasks of the handler together
RETRY = {ArithmeticError: None, ValueError: 0}


def tell(line):
    with LOCK:
        print(json.dumps(line), flush=True)


def event(kind, task):
    tell({"event": kind, "task": task.id})


def connect(client="main", url=None, token=None, ca=None, gate=None):
    CLIENTS[client] = leasehold.Client(url, token=token, ca=ca)


def open_session(client, serves, name=None, ttl=30, session="main"):
    SESSIONS[session] = client.session(serves, name=name, ttl=ttl)


def claim(client, session="main", limit=1, wait=0):
    claimed = SESSIONS[session].claim(limit=limit, wait=wait)
    TASKS.update((task.id, task) for task in claimed)
    return [task.fields for task in claimed]


def test_coordinator(client):
    with leasehold.TestCoordinator() as coordinator:
        return coordinator.client().create("a")


def work(client, action, concurrency=2, asynchronous=False, ttl=1, drain=1, name=None):
    options = {"concurrency": concurrency, "name": name or action, "ttl": ttl, "drain": drain, "retry": RETRY}
    if asynchronous:
        asyncio.run(leasehold.AsyncWorker(client, {action: handle_async}, **options).run())
    else:
        leasehold.Worker(client, {action: handle}, **options).run()


def process(client):
    import socket

    return {"host": socket.gethostname(), "pid": os.getpid()}


VERBS = {
    "create": lambda c, action, data=None, options={}, key=None: c.create(action, data, key=key, **options),
    "create_all": lambda c, tasks, key=None: c.create_all(tasks, key=key),
    "get": lambda c, id: c.get(id),
    "parents": lambda c, id: c.parents(id),
    "wait": lambda c, id, timeout=None: c.wait(id, timeout),
    "cancel": lambda c, id, reason="", key=None: c.cancel(id, reason, key=key),
    "requeue": lambda c, id, key=None: c.requeue(id, key=key),
    "actions": lambda c: c.actions(),
    "leases": lambda c: c.leases(),
    "attention": lambda c: c.attention(),
    "history": lambda c, action=None, span="hour": c.history(action, span),
    "count": lambda c, filter={}: c.count(**filter),
    "requeue_selected": lambda c, seen, filter={}: c.requeue_selected(seen, **filter),
    "discard_selected": lambda c, seen, filter={}: c.discard_selected(seen, **filter),
    "cancel_selected": lambda c, seen, filter={}, reason="": c.cancel_selected(seen, reason, **filter),
    "session": open_session,
    "heartbeat": lambda c, session="main": SESSIONS[session].heartbeat(),
    "resume": lambda c, session="main": SESSIONS[session].resume(),
    "end": lambda c, session="main": SESSIONS[session].end(),
    "claim": claim,
    "task_parents": lambda c, id: TASKS[id].parents,
    "extend": lambda c, id, fraction=None, text="": TASKS[id].extend(fraction, text),
    "resolve": lambda c, id, result=None, create=(): TASKS[id].resolve(result, create),
    "release": lambda c, id, error, output="", give_up=False: TASKS[id].release(error, output=output, give_up=give_up),
    "hand_back": lambda c, id, delay=0: TASKS[id].hand_back(delay),
    "work": work,
    "process": process,
    "test_coordinator": test_coordinator,
}


def together(task):
    """Wait until n tasks are worked on at once."""
    with CHANGED:
        RUNNING.add(task.id)
        CHANGED.notify_all()
        CHANGED.wait_for(lambda: len(RUNNING) >= task.data["n"] or task.stopped.is_set())


def handle(task):
    event("started", task)
    do, n = task.data["do"], task.data.get("n")
    if do == "double":
        return n * 2
    if do == "echo":
        return task.data["value"]
    if do == "large":  # n bytes of JSON
        return "x" * (n - 2)
    if do == "together":
        together(task)
    if do == "slow":  # longer than the session's TTL
        task.extend(0.5, "slow")
        time.sleep(1.6)
        return "done"
    if do == "wait":  # n milliseconds
        time.sleep(n / 1000)
    if do == "fail":
        raise ValueError("broken")
    if do == "exit":  # not an Exception
        sys.exit("leave")
    if do == "unsendable":
        return {1, 2}
    if do == "never":
        raise leasehold.HandBack(-1)
    if do == "shout":
        raise ValueError("x" * (2 << 20))
    if do == "hopeless":
        task.log("a note")
        return 1 / 0
    if do == "giveup":
        raise leasehold.GiveUp("never")
    if do == "later" and task.id not in LATER:
        LATER.add(task.id)
        raise leasehold.HandBack(0.1)
    if do == "finish":
        task.draining.wait()
        return "finished"
    if do == "stuck":
        task.stopped.wait()
        event("stopped", task)
    return do


async def handle_async(task):
    if task.data["do"] == "stuck":
        event("started", task)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            event("stopped", task)
            raise
    if task.data["do"] == "together":  # there are fewer threads
        RUNNING.add(task.id)
        while len(RUNNING) < task.data["n"]:
            await asyncio.sleep(0.05)
        return "together"
    return await asyncio.to_thread(handle, task)


def failure(err):
    fields = {"kind": type(err).__name__.replace("Error", ""), "text": str(err)}
    if isinstance(err, leasehold.Error):
        fields.update(status=err.status, code=err.code, title=err.title, detail=err.detail)
    if isinstance(err, leasehold.Unavailable):
        fields["happened"] = err.happened
    return fields


def main():
    for line in iter(sys.stdin.readline, ""):
        arguments = json.loads(line)
        do = arguments.pop("do")
        try:
            if do == "connect":
                answer = connect(**arguments)
            else:
                answer = VERBS[do](CLIENTS[arguments.pop("client", "main")], **arguments)
            tell({"ok": answer})
        except Exception as err:
            tell({"error": failure(err)})


main()
