"""What every client must do, in Python. clients/conformance_test.go runs it and describes it.

conformance.py URL ACTION         calls each verb, and prints the steps that passed
conformance.py URL ACTION worker [SLOTS]  works until SIGTERM, as the tasks' data demand
conformance.py URL ACTION async   the same, with coroutines
conformance.py URL ACTION refused OTHER  is refused by a coordinator that authenticates, and does not
                                  send a request to OTHER, whose certificate is of another CA
conformance.py "" ACTION coordinator  starts a coordinator and ends it
conformance.py URL ACTION restart calls verbs once a line comes, while the coordinator is away
"""

import asyncio
import os
import socket
import sys
import time

import leasehold

DATA = {"n": 1, "text": 'é "\n\U0001f980', "list": [1.5, None, True]}


def refused(kind, status, call):
    try:
        call()
    except kind as err:
        assert (err.status, bool(err.code), bool(err.title), bool(err.detail)) == (status, True, True, True), vars(err)
        return err
    raise AssertionError(f"want {kind.__name__}")


def verbs(client, admin, action):
    made = client.create(action, DATA, priority=5, tags=["a"])
    shown = client.get(made["id"])
    assert (shown["state"], shown["data"], shown["priority"]) == ("waiting", DATA, 5), shown
    print("create")

    keyed = client.create(action, key=action + "-key")
    assert client.create(action, key=action + "-key")["id"] == keyed["id"]
    refused(leasehold.KeyReused, 409, lambda: client.create(action, 1, key=action + "-key"))
    print("key")

    refused(leasehold.NotFound, 404, lambda: client.get("t999999"))
    assert "a b" in refused(leasehold.Invalid, 400, lambda: client.create("a b")).detail
    assert "1048576" in refused(leasehold.TooLarge, 413, lambda: client.create(action, "x" * (2 << 20))).detail
    print("errors")

    session = client.session({action: 4}, name=action)
    first, second = session.claim(limit=2)
    assert (first.id, first.data, first.attempts) == (made["id"], DATA, 0), first.fields
    assert second.id == keyed["id"] and session.claim() == []
    assert {c["task"] for c in session.heartbeat()["claims"]} == {first.id, second.id}
    first.extend()
    first.extend(0.5, "half")
    assert client.get(first.id)["progress"] == {"fraction": 0.5, "text": "half"}
    created = first.resolve({"ok": True}, create=[{"action": action + "-next"}])
    assert [t["action"] for t in created] == [action + "-next"]
    ended = client.wait(first.id)
    assert (ended["state"], ended["result"]) == ("resolved", {"ok": True}), ended
    refused(leasehold.StaleClaim, 409, first.resolve)
    assert client.wait(first.id, timeout=0)["state"] == "resolved"
    try:
        raise AssertionError(client.wait(second.id, timeout=0))
    except TimeoutError as e:
        assert f"{second.id} is claimed" in str(e), e
    second.hand_back()
    again = session.claim(wait=5)[0]
    assert (again.id, again.attempts) == (second.id, 0)
    again.release("not an image", output="line", give_up=True)
    assert client.wait(second.id)["state"] == "dead"
    for _ in range(2):  # without a key, the second time is refused
        admin.requeue(second.id, key=action + "-requeue")
    assert client.get(second.id)["state"] == "waiting"
    for _ in range(2):
        client.cancel(second.id, "done with it", key=action + "-cancel")
    refused(leasehold.NotFound, 404, lambda: client.cancel(second.id))
    print("claim")

    parent, child = client.create_all([{"action": action, "ref": "p"}, {"action": action, "after": ["p"]}])
    session.claim()[0].resolve([1, 2])
    last = session.claim(wait=5)[0]
    assert last.id == child["id"] and last.parents[0]["task"] == parent["id"] and last.parents[0]["result"] == [1, 2]
    client.cancel(last.id, "no longer needed")
    assert client.wait(last.id)["state"] == "cancelled"
    parents = [client.create(action)["id"] for _ in range(4)]
    child = client.create(action, after=parents)["id"]
    for task in session.claim(limit=4):
        task.resolve("r" * 400_000)
    last = session.claim(wait=5)[0]
    assert last.id == child and [len(p["result"]) for p in last.parents] == [400_000] * 4
    last.resolve()
    refused(leasehold.NotFound, 404, lambda: client.parents(child))
    print("parents")

    with client.session({action: 1}) as nameless:  # two of one machine must differ
        client.create(action)
        claimed = nameless.claim(wait=5)[0]
        assert claimed.fields["current_claimant"] == f"{socket.gethostname()}/{os.getpid()}", claimed.fields
        claimed.resolve()
    print("name")

    select(client, admin, action)
    print("selection")

    session.end()
    refused(leasehold.SessionClosed, 404, session.heartbeat)
    session.end()
    print("session")


def select(client, admin, action):
    kind = action + "-many"

    def die(number):
        parent = client.create(kind)["id"]
        client.create_all([{"action": kind, "tags": ["many"], "after": [parent]} for _ in range(number)])
        client.cancel(parent)

    die(1)
    seen = client.count(state="dead", action=kind, tag="many", text="cancelled")
    assert seen["count"] == 1, seen
    die(2)
    refused(leasehold.Conflict, 409, lambda: admin.discard_selected({**seen, "at": client.count()["at"]}, action=kind))
    assert admin.requeue_selected(seen, action=kind)["refused"][0]["code"] == "conflict", "its parent cannot come back"
    assert len(admin.discard_selected(seen, state="dead", action=kind)["done"]) == 1, "the later ones are left"
    client.create_all([{"action": kind}] * 1000)
    client.create_all([{"action": kind}] * 200)
    live = client.count(action=kind)
    assert live["count"] == 1200, live
    assert len(client.cancel_selected(live, "moved", action=kind)["done"]) == 1200
    while action not in (names := [a["action"] for a in client.actions()]):  # they are at most a second old
        time.sleep(0.1)
    assert names == sorted(names), names
    assert client.leases() == []
    attention = client.attention()
    assert attention["at"] and all(i["severity"] in ("stops_work", "degrades", "to_know") for i in attention["items"]), attention
    day = client.history(action, span="day")
    assert (day["action"], day["span"], day["step_s"]) == (action, "day", 60), day
    assert "action" not in client.history()


def handle(task, seen=set()):
    do = task.data["do"]
    if do == "double":
        return task.data["n"] * 2
    if do == "slow":  # longer than the session's TTL
        task.extend(0.5, "slow")
        time.sleep(1.6)
        return "done"
    if do == "wait":  # n milliseconds
        time.sleep(task.data["n"] / 1000)
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
    if do == "later" and task.id not in seen:
        seen.add(task.id)
        raise leasehold.HandBack(0.1)
    if do == "finish":
        task.draining.wait()
        return "finished"
    if do == "stuck":
        task.stopped.wait()
    return do


async def handle_async(task):
    if task.data["do"] == "stuck":
        await asyncio.Event().wait()
    return await asyncio.to_thread(handle, task)


def restart(client, action):
    first, second = client.create(action), client.create(action)
    print("ready", flush=True)
    sys.stdin.readline()
    client.create(action, key=action + "-restart")
    client.cancel(first["id"])
    assert client.get(second["id"])["state"] == "waiting"
    assert client.wait(first["id"])["state"] == "cancelled"
    print("restarted", flush=True)
    sys.stdin.readline()
    nowhere = leasehold.Client("http://127.0.0.1:1")
    try:
        raise AssertionError(nowhere.create(action))
    except leasehold.Unavailable as err:
        assert err.happened is False and "did not happen" in str(err), err
    print("told", flush=True)


def unauthorized(url, other):
    wrong = leasehold.Client(url, token="lht-wrong")
    assert "not known" in refused(leasehold.Unauthenticated, 401, lambda: wrong.create("a")).detail
    refused(leasehold.Forbidden, 403, lambda: leasehold.Client(url).requeue("t1"))
    refused(leasehold.Unauthenticated, 0, lambda: leasehold.Client(other).create("a"))
    for options in ({"url": "http://192.0.2.1:7412", "token": "t"}, {"ca": "no-such-file.pem"}):
        try:
            raise AssertionError(leasehold.Client(**options))
        except ValueError as err:
            assert "https" in str(err) or "PEM" in str(err), err
    print("refused")


RETRY = {ArithmeticError: None, ValueError: 0}


def main():
    if sys.argv[3:] == ["coordinator"]:
        with leasehold.TestCoordinator() as coordinator:
            print(coordinator.client().create("a")["state"])
        return
    client, action = leasehold.Client(sys.argv[1]), sys.argv[2]
    if sys.argv[3:] == ["async"]:
        asyncio.run(leasehold.AsyncWorker(client, {action: handle_async}, concurrency=2, name=action, ttl=1, drain=1, retry=RETRY).run())
    elif sys.argv[3:4] == ["worker"]:
        leasehold.Worker(client, {action: handle}, concurrency=int((sys.argv + ["2"])[4]), name=action, ttl=1, drain=1, retry=RETRY).run()
    elif sys.argv[3:] == ["restart"]:
        restart(client, action)
    elif sys.argv[3:4] == ["refused"]:
        unauthorized(sys.argv[1], sys.argv[4])
    else:
        verbs(client, leasehold.Client(sys.argv[1], token=os.environ.get("ADMIN_TOKEN")), action)


main()
