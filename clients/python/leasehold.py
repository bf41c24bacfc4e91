"""A client of Leasehold's tasks: create them, wait for them, and work on them.

One file, Python 3.9 or newer, standard library only. Copy it next to your program.

    import leasehold

    client = leasehold.Client()                      # http://127.0.0.1:7412
    task = client.create("count", {"words": ["a", "b"]})
    print(client.wait(task["id"])["result"])

    def count(task):                                 # in another process
        return len(task.data["words"])

    leasehold.Worker(client, {"count": count}).run()  # until SIGTERM

A coordinator that authenticates wants a token, and shows a certificate of its own CA:

    client = leasehold.Client("https://server:7412", token="@ci.token", ca="ca.pem")

Tasks are dictionaries with the fields of docs/json.md. Durations are seconds. A refused
request raises a subclass of Error. Requests that change something are repeated after errors
that can pass, with an idempotency key, so that they take effect once. All methods may be
called by several threads.
"""

import collections
import http.client
import ipaddress
import json
import logging
import math
import os
import queue
import signal
import socket
import ssl
import threading
import time
import traceback
import urllib.parse
import uuid

log = logging.getLogger("leasehold")

_TRIES = 5  # of one request, at least
_WAIT = 20  # seconds that one request waits for a task, at most 25
_OUTAGE = 60  # seconds in which a call of Client goes on without a coordinator that has answered before
_MOST = 64  # tasks that one request claims, and ends that it tells
_MOST_TOLD = 512 * 1024  # characters of ends that one request tells, unless it tells one only
_KEPT = 8  # connections that a client keeps


class Error(Exception):
    """A request that the coordinator refused, or that did not reach it (status 0)."""

    def __init__(self, status, code, title, detail):
        super().__init__(detail or title)
        self.status, self.code, self.title, self.detail = status, code, title, detail


class Invalid(Error):
    """The request has a field that is not accepted."""


class NotFound(Error):
    """There is no such task."""


class Conflict(Error):
    """The state of the task does not allow it."""


class StaleClaim(Conflict):
    """The task is not this worker's any more: stop working on it."""


class Unauthenticated(Error):
    """The token is missing or wrong or has ended; or, with status 0, the coordinator's certificate
    is not of the CA or not for this name, and no request was sent."""


class Forbidden(Error):
    """The token lacks the role that the request needs."""


class KeyReused(Error):
    """The idempotency key belongs to another request."""


class SessionClosed(Error):
    """The session was lost or has ended, and its claims with it."""


class TooLarge(Error):
    """The data or the result is too large; the detail names the limit."""


class Unavailable(Error):
    """The coordinator is overloaded or cannot be reached. The field happened is False if the
    request did not reach it, and None if it may have: the same key does it once."""

    happened = None


_ERRORS = {
    "invalid": Invalid, "usage": Invalid, "not_found": NotFound, "conflict": Conflict, "stale_token": StaleClaim,
    "key_reused": KeyReused, "closed": SessionClosed, "too_large": TooLarge, "overloaded": Unavailable,
    "unavailable": Unavailable, "unauthenticated": Unauthenticated, "forbidden": Forbidden,
}


class GiveUp(Exception):
    """Raised by a handler: no worker could do the task, so it is dead at once."""


class HandBack(Exception):
    """Raised by a handler: not now. The attempt is not counted."""

    def __init__(self, delay=0):
        super().__init__(f"handed back for {delay} s")
        self.delay = delay


class Client:
    """Calls the HTTP API of a coordinator, by default the one at LEASEHOLD_HTTP or port 7412.

    token is what leasehold token create printed, or @FILE (default: LEASEHOLD_TOKEN). ca is a file
    with what leasehold identity show --ca printed (default: LEASEHOLD_CA). With one of them the
    default URL is https."""

    def __init__(self, url=None, timeout=60, *, token=None, ca=None):
        token = _secret(token or os.environ.get("LEASEHOLD_TOKEN", ""))
        ca = ca or os.environ.get("LEASEHOLD_CA")
        scheme = "https://" if token or ca else "http://"
        url = url or scheme + os.environ.get("LEASEHOLD_HTTP", "127.0.0.1:7412")
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url {url!r}: want one such as http://127.0.0.1:7412")
        if token and parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise ValueError(f"url {url!r}: a token is sent over https only, because others could read it")
        self._tls = _trusting(ca) if parts.scheme == "https" else None
        self._address = parts.netloc
        self._headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        self._base, self._timeout = parts.path.rstrip("/") + "/api/v1", timeout
        self._answered = False  # whether a coordinator has, so that one restarts if none does
        self._kept, self._process = [], os.getpid()  # connections without a request, of this process

    def create(self, action, data=None, *, key=None, **options):
        """Create a task and return it. Options are the fields of the API, such as priority=5,
        timeout=60, unique_key="a", after=["t1"]. The same key creates the task once."""
        return self._post("/tasks", {"action": action, "data": data, **options}, key, patient=True)

    def create_all(self, tasks, *, key=None):
        """Create tasks, all or none: dictionaries with action, data and options."""
        return self._post("/task-batches", {"tasks": list(tasks)}, key, patient=True)["items"]

    def get(self, task_id):
        """Return a task, alive or ended. NotFound: it never was, or ended long ago."""
        return self._request("GET", "/tasks/" + _quote(task_id), patient=True)

    def parents(self, task_id):
        """Return how the tasks of after of a task ended, with all of their results. NotFound: it
        never was, or has ended."""
        found, page = [], {"next": 0}
        while "next" in page:
            page = self._request("GET", f"/tasks/{_quote(task_id)}/parents?offset={page['next']}", patient=True)
            found += page["items"]
        return found

    def wait(self, task_id, timeout=None):
        """Wait until a task is resolved, dead or cancelled, and return it, also while the
        coordinator restarts for up to a minute. After timeout seconds, TimeoutError."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        left = 0  # the first request does not wait, to learn whether a coordinator answers
        while True:
            task = self._request("GET", f"/tasks/{_quote(task_id)}?wait={math.ceil(left)}", patient=True, end=end)
            if task["state"] in ("resolved", "dead", "cancelled"):
                return task
            now = time.monotonic()
            if now >= end:
                raise TimeoutError(f"task {task_id} is {task['state']} after {timeout} s")
            left = min(_WAIT, end - now)

    def cancel(self, task_id, reason="", *, key=None):
        """End a task that has not ended; its worker stops. The same key does it once."""
        self._post(f"/tasks/{_quote(task_id)}/cancel", {"reason": reason}, key, patient=True)

    def requeue(self, task_id, *, key=None):
        """Have a dead task tried again. The same key does it once."""
        return self._post(f"/dead/{_quote(task_id)}/requeue", None, key, patient=True)

    def session(self, serves=None, *, name=None, ttl=30):
        """Open the session of a worker that serves actions: a dictionary of action and slots.
        It lives while a request of it comes every ttl seconds. A worker of the same name is
        not offered the task that it just failed; the default is the machine and the process."""
        return Session(self, serves or {}, name or f"{socket.gethostname()}/{os.getpid()}", ttl)

    def _post(self, path, body, key=None, **more):
        return self._request("POST", path, body, key or str(uuid.uuid4()), **more)

    def _request(self, method, path, body=None, key=None, calling=None, patient=False, end=math.inf):
        pause, tries, sent = 0.1, 0, False
        until = min(end, time.monotonic() + _OUTAGE) if patient and self._answered else 0
        while True:
            try:
                answer = self._once(method, path, body, key, calling)
                self._answered = True
                return answer
            except Unavailable as err:
                tries, sent = tries + 1, sent or err.happened is None
                away = err.status in (0, 503)
                if calling and calling.stopped or tries >= _TRIES and not (away and time.monotonic() < until):
                    err.happened = None if sent else False
                    if key:
                        err.args = (f"{err}; {'it may have happened' if sent else 'it did not happen'}",)
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 2)

    def _once(self, method, path, body, key, calling):
        headers = {**self._headers, **({"Idempotency-Key": key} if key else {})}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        what, sent = f"{method} {self._address}{path}", False
        while True:
            connection, kept = self._connection()
            try:
                if not kept:
                    connection.connect()
            except ssl.SSLCertVerificationError as err:
                connection.close()
                raise Unauthenticated(0, "unauthenticated", "unauthenticated", f"{self._address}: {err.verify_message}") from err
            except OSError as err:
                connection.close()
                raise _unreached(f"{what}: {err}", None if sent else False) from err
            try:
                response, text = self._exchange(connection, calling, method, self._base + path, content, headers)
            except (OSError, http.client.HTTPException) as err:
                connection.close()
                if not kept or isinstance(err, TimeoutError) or calling and calling.stopped:
                    raise _unreached(f"{what}: {err}", None) from err
                sent, self._kept = True, []  # the server has closed it meanwhile, and the others too
            else:
                break
        if response.will_close or len(self._kept) >= _KEPT:
            connection.close()
        else:
            self._kept.append(connection)
        answer = json.loads(text) if text.strip()[:1] in (b"{", b"[") else {}
        if response.status >= 300:
            raise _refused(response.status, answer, response.reason)
        return answer

    def _connection(self):
        """Return a connection, and whether it was kept from an earlier request."""
        if self._process != os.getpid():  # a fork shares connections with its parent
            self._kept, self._process = [], os.getpid()
        try:
            return self._kept.pop(), True
        except IndexError:
            pass
        if self._tls:
            return http.client.HTTPSConnection(self._address, timeout=self._timeout, context=self._tls), False
        return http.client.HTTPConnection(self._address, timeout=self._timeout), False

    @staticmethod
    def _exchange(connection, calling, *request):
        """Send a request and return its response and the content of that. calling may break it off."""
        if calling:
            calling.began(connection.sock)
        try:
            connection.request(*request)
            response = connection.getresponse()
            return response, response.read()
        finally:
            if calling:
                calling.ended()


def _refused(status, answer, title=""):
    """Return the error of a problem document."""
    code = answer.get("code", "internal")
    err = _ERRORS.get(code, Error)(status, code, answer.get("title", title), answer.get("detail", ""))
    if code == "overloaded":
        err.happened = False
    return err


def _secret(text):
    """Return a secret, which may be in a file (@FILE)."""
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    return text.strip()


def _trusting(ca):
    """Return the settings of TLS that trust the CA in a PEM file; those of the system without one."""
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as err:
        raise ValueError(f"ca {ca!r}: {err}: want a PEM file (leasehold identity show --ca)") from err


def _is_loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unreached(detail, happened):
    err = Unavailable(0, "unavailable", "unavailable", detail)
    err.happened = happened
    return err


class _Call:
    """A request that another thread may break off."""

    def __init__(self):
        self._lock, self._socket, self.stopped = threading.Lock(), None, False

    def began(self, sock):
        with self._lock:
            self._socket = sock
        if self.stopped:
            self.stop()

    def ended(self):
        with self._lock:
            self._socket = None  # another request may use it next

    def stop(self):
        self.stopped = True
        with self._lock:
            try:
                if self._socket:
                    self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already


class Session:
    """The session of a worker, to which its claims belong. Use it in a with statement, or end
    it: its tasks are offered to others then."""

    def __init__(self, client, serves, name, ttl):
        self._client, self._ttl = client, ttl
        self._reopen = None  # set by a Worker: what to do after SessionClosed
        self._body = {
            "name": name, "ttl": ttl, "host": socket.gethostname(), "pid": os.getpid(),
            "serves": [{"action": a, "slots": n} for a, n in serves.items()],
        }
        self.id = client._post("/sessions", self._body)["id"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def resume(self):
        """Go on after a restart of the coordinator. SessionClosed: the session was lost."""
        return self._client._post("/sessions", {**self._body, "resume": self.id})

    def heartbeat(self, wait=0, *, _calling=None):
        """Keep the session alive. Return what it has: a dictionary with claims and draining. With
        wait, up to 25 seconds, that is when it loses a task or shall drain."""
        return self._client._post(self._path("/heartbeat"), {"wait": wait}, calling=_calling)

    def claim(self, actions=None, *, limit=1, wait=0, _calling=None):
        """Claim up to limit tasks of the actions (those that the session serves if None), and
        wait up to 25 seconds for the first one. Return a list of Task, which may be empty."""
        body = {"limit": limit, "wait": wait, **({"actions": list(actions)} if actions else {})}
        found = self._client._post(self._path("/claims"), body, calling=_calling)
        return [Task(self, fields) for fields in found["items"]]

    def _next(self, ends, limit, key):
        """End tasks, and claim up to limit others in the same step. ends are _End, key belongs to them. Return
        the answers to the ends, and a list of Task."""
        body = b'{"limit":%d,"finish":[%s]}' % (limit, b",".join(end.content for end in ends))
        found = self._client._post(self._path("/claims"), body, f"{key}/{self.id}")
        return found["finished"], [Task(self, fields) for fields in found["items"]]

    def end(self):
        """End the session. Tasks that it has are handed back."""
        try:
            self._client._request("DELETE", self._path(""))
        except (NotFound, SessionClosed):
            pass  # it was lost

    def _path(self, rest):
        return f"/sessions/{_quote(self.id)}{rest}"


class Task:
    """A task that a session has claimed. fields has all that the API returned."""

    def __init__(self, session, fields):
        self._session, self.fields, self.token = session, fields, fields["token"]
        self.id, self.action, self.data = fields["id"], fields["action"], fields.get("data")
        self.attempts = fields["attempts"]
        self._deadline = None  # of a Worker: when the timeout is over
        self._parents = fields.get("parents", [])
        #: Set when the worker must stop: the task was cancelled, timed out or is another's.
        self.stopped = threading.Event()
        #: Set when the worker drains: finish soon, or the task is handed back.
        self.draining = threading.Event()

    @property
    def parents(self):
        """How the tasks of after ended. Results that are too large for one claim are read when
        this is used first."""
        if any(p.get("left_out") for p in self._parents):
            self._parents = self._session._client.parents(self.id)
        return self._parents

    def extend(self, fraction=None, text=""):
        """Start the timeout of the task again, and note its progress: from 0 to 1, and a text."""
        progress = {} if fraction is None else {"progress": {"fraction": fraction, "text": text}}
        self._call("extend", progress)
        if self._deadline:
            self._watch()

    def resolve(self, result=None, create=()):
        """End the task with its result, any JSON, and create further tasks in the same
        transaction. Return those."""
        return self._call("resolve", {"result": result, **({"create": list(create)} if create else {})})["items"]

    def release(self, error, *, delay=0, output="", give_up=False):
        """Give the task back after an attempt that failed. Another worker may try, after delay
        seconds; with give_up, or past its attempts, it is dead."""
        self._call("release", {"error": error, "delay": delay, "output": output, "give_up": give_up})

    def hand_back(self, delay=0):
        """Give the task back without counting an attempt."""
        self._call("hand-back", {"delay": delay})

    def _watch(self):
        """Start the timeout, at whose end a Worker sets stopped."""
        self._deadline = time.monotonic() + self.fields["timeout"]

    def _call(self, verb, body):
        path = self._session._path(f"/claims/{_quote(self.id)}/{verb}")
        body = {"token": self.token, **body}
        try:
            return self._session._client._post(path, body)
        except SessionClosed:
            if not self._session._reopen:
                raise
        self._session._reopen()
        return self._session._client._post(path, body)


def _describe(err):
    """Return the kind of an exception and, if it has one, its message."""
    return f"{type(err).__name__}: {err}" if str(err) else type(err).__name__


class _End:
    """How a task ended, as a request tells it: the field resolve, release or hand_back."""

    def __init__(self, task, verb, what, body):
        self.task, self.what = task, what
        body = {"task": task.id, verb: {"token": task.token, **body}}
        self.content = json.dumps(body, allow_nan=False).encode()


class Worker:
    """Works on tasks: handlers are functions of a Task by action. What a handler returns is the
    result. If it raises GiveUp, the task is dead; HandBack, it is offered later; any other
    exception releases it, so that another worker may try.

    concurrency is the number of tasks at a time, each in a thread. When the worker stops, its
    handlers have drain seconds to finish; tasks that do not are handed back."""

    def __init__(self, client, handlers, *, concurrency=1, name=None, ttl=30, drain=30):
        if not handlers or concurrency < 1:
            raise ValueError("a worker needs at least one handler, and a concurrency of at least 1")
        self._client, self._handlers, self._concurrency = client, dict(handlers), concurrency
        self._name, self._ttl, self._drain = name, ttl, drain
        self._jobs = queue.SimpleQueue()  # functions for the threads
        self._threads = 0
        lock = threading.RLock()  # guards the fields below
        self._changed, self._clock = threading.Condition(lock), threading.Condition(lock)
        self._running = set()  # tasks whose handlers have not returned
        self._ends = collections.deque()  # of tasks whose handlers have, and that are not told
        self._telling = False  # whether a thread tells them
        self._asked = 0  # tasks that requests under way may bring
        self._stopping = False
        self._claiming, self._beating = _Call(), _Call()
        self._ended = threading.Event()
        self._reopening = threading.Lock()

    def run(self):
        """Work until stop is called, SIGTERM or SIGINT comes (in the main thread), or an
        administrator drains the session."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        while not self._begin():
            if self._stopping:
                return
        others = [threading.Thread(target=f, daemon=True) for f in (self._beat, self._watch)]
        for thread in others:
            thread.start()
        try:
            while not self._stopping:
                self._claim()
            self._finish()
        finally:
            self._ended.set()
            self._beating.stop()
            with self._changed:
                self._clock.notify()
            for thread in others:
                thread.join()
            for _ in range(self._threads):
                self._jobs.put(None)
            self._session.end()

    def stop(self):
        """Claim nothing new, finish or hand back, and have run return."""
        self._stopping = True
        self._claiming.stop()

    def _begin(self):
        try:
            self._session = self._open()
        except Unavailable as err:
            self._pause(err)
            return False
        return True

    def _pause(self, err):
        if not self._stopping:
            log.warning("coordinator unreachable, retrying: %s", err)
            self._ended.wait(1)

    def _open(self):
        session = self._client.session({a: self._concurrency for a in self._handlers}, name=self._name, ttl=self._ttl)
        session._reopen = self._reopen
        return session

    def _ask(self):
        """Return for how many tasks there is room, and count them as asked for."""
        free = 0 if self._stopping else min(self._concurrency - len(self._running) - self._asked, _MOST)
        self._asked += free
        return free

    def _claim(self):
        """Wait for tasks, unless what tells ends asks for them too."""
        with self._changed:
            free = 0 if self._telling else self._ask()
            if free == 0:
                self._changed.wait(0.2)  # a signal does not notify
                return
        tasks = []
        try:
            tasks = self._session.claim(limit=free, wait=_WAIT, _calling=self._claiming)
        except SessionClosed:
            self._try(self._reopen)
        except Unavailable as err:
            self._pause(err)
        finally:
            self._start(tasks, free)

    def _try(self, call):
        try:
            call()
        except Unavailable as err:
            self._pause(err)

    def _start(self, tasks, asked):
        """Have threads work on tasks, of as many as were asked for. There is one thread more than
        tasks, because one tells how tasks ended."""
        with self._changed:
            self._asked -= asked
            for task in tasks:
                task._watch()
                if self._stopping:
                    task.draining.set()
                self._running.add(task)
                self._clock.notify()
            for _ in range(min(len(self._running), self._concurrency) + 1 - self._threads):
                threading.Thread(target=self._serve, daemon=True).start()
                self._threads += 1
        for task in tasks:
            self._jobs.put(lambda task=task: self._work(task))

    def _serve(self):
        for job in iter(self._jobs.get, None):
            job()

    def _reopen(self):
        """Resume the session after a restart of the coordinator, or open another one."""
        with self._reopening:
            try:
                self._session.resume()
            except Conflict:
                pass  # it lives: another thread has resumed it
            except SessionClosed:
                log.warning("the session was lost; its tasks are offered to others")
                with self._changed:
                    for task in self._running:
                        task.stopped.set()
                self._session = self._open()

    def _beat(self):
        """Keep a heartbeat waiting, which answers when a task is lost or the session shall drain.
        Then see what the session has: tasks may have been claimed while it waited."""
        pause = 0
        while not self._ended.wait(pause):
            pause = self._ttl / 3
            try:
                try:
                    if not self._see():
                        self._session.heartbeat(_WAIT, _calling=self._beating)
                        pause = 0.1
                except SessionClosed:
                    if not self._stopping:
                        self._reopen()
            except Error as err:
                if not self._ended.is_set():
                    log.warning("heartbeat: %s", err)

    def _see(self):
        """Stop the tasks that the session does not have. Return whether it shall drain."""
        with self._changed:
            running = list(self._running)
        state = self._session.heartbeat()
        has = {(c["task"], c["token"]) for c in state["claims"]}
        for task in running:
            if (task.id, task.token) not in has:
                task.stopped.set()
        if state["draining"]:
            self.stop()
        return state["draining"]

    def _watch(self):
        """Stop the tasks whose timeout is over."""
        with self._changed:
            while not self._ended.is_set():
                now, next_end = time.monotonic(), math.inf
                for task in self._running:
                    if task._deadline <= now:
                        task.stopped.set()
                    else:
                        next_end = min(next_end, task._deadline)
                self._clock.wait(min(next_end - now, threading.TIMEOUT_MAX))

    def _work(self, task):
        end = self._conclude(task)
        with self._changed:
            self._running.discard(task)
            if end:
                self._ends.append(end)
            tells = self._ends and not self._telling
            self._telling = self._telling or tells
            self._changed.notify_all()
        if tells:
            self._tell()

    def _conclude(self, task):
        """Call the handler of a task, and return how the task ended: None if it is not the worker's any more."""
        what, verb = "result", "resolve"
        try:
            body = {"result": self._handlers[task.action](task)}
        except GiveUp as err:
            what, verb, body = "reason", "release", {"error": str(err), "give_up": True}
        except HandBack as err:
            what, verb, body = "delay", "hand_back", {"delay": err.delay}
        except StaleClaim:
            log.info("task %s was taken away", task.id)
            return None
        except BaseException as err:  # also sys.exit, which would end only this thread
            log.warning("task %s failed", task.id, exc_info=True)
            what, verb, body = "error", "release", {"error": _describe(err), "output": traceback.format_exc()}
        try:
            return _End(task, verb, what, body)
        except Exception as err:  # it is no JSON
            return self._refused(task, what, err)

    @staticmethod
    def _refused(task, what, err):
        """Return the end of a task whose end was refused, because it is too large, out of range or no
        JSON: the attempt failed. Else the task would be claimed until its timeout."""
        log.warning("%s of task %s: %s", what, task.id, err)
        return _End(task, "release", None, {"error": f"its {what} was refused: {_describe(err)}"[:2000]})

    def _tell(self):
        """Tell how tasks ended, and claim others in the same request, until all is told."""
        while True:
            with self._changed:
                ends = self._next_ends()
                free = self._ask() if ends else 0
                if not ends:
                    self._telling = False
                    self._changed.notify_all()
                    return
            self._start(self._next(ends, free), free)

    def _next_ends(self):
        """Return ends that one request can tell, none if all are told."""
        ends, size = [], 0
        while self._ends and len(ends) < _MOST:
            size += len(self._ends[0].content)
            if ends and size > _MOST_TOLD:
                break
            ends.append(self._ends.popleft())
        return ends

    def _next(self, ends, limit):
        """Tell ends, and return up to limit further tasks."""
        try:
            answers, tasks = self._report(ends, limit)
        except Error as err:
            if isinstance(err, (Unavailable, SessionClosed)):
                log.warning("%s: %s", ", ".join(end.task.id for end in ends), err)
            elif len(ends) > 1:  # one of them is refused, and none is told
                for end in ends:
                    self._next([end], 0)
            else:
                self._judge(ends[0], err)
            return []
        for end, answer in zip(ends, answers):
            if "code" in answer:
                self._judge(end, _refused(200, answer))
        return tasks

    def _judge(self, end, err):
        """Look at the error with which an end was refused."""
        if isinstance(err, StaleClaim):
            log.info("task %s was taken away", end.task.id)
        elif end.what:
            with self._changed:
                self._ends.append(self._refused(end.task, end.what, err))
        else:
            log.warning("task %s: %s", end.task.id, err)

    def _report(self, ends, limit):
        """Tell ends. Repeat that while the coordinator cannot be reached: after a restart the session
        has the tasks again."""
        key = uuid.uuid4()
        while True:
            try:
                try:
                    return self._session._next(ends, limit, key)
                except SessionClosed:
                    self._reopen()
                    return self._session._next(ends, limit, key)
            except Unavailable as err:
                if self._ended.wait(1):
                    raise
                log.warning("task %s: retrying: %s", ends[0].task.id, err)

    def _finish(self):
        """Give handlers time to finish, and hand back the tasks of the others."""
        with self._changed:
            for task in self._running:
                task.draining.set()
            self._changed.wait_for(lambda: not (self._running or self._ends or self._telling), self._drain)
            left = list(self._running)
        for task in left:
            try:
                task.hand_back()  # first, because a handler that stops might resolve the task
            except Error as err:
                log.info("task %s: %s", task.id, err)
            task.stopped.set()


def _quote(text):
    return urllib.parse.quote(text, safe="")
