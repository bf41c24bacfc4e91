"""A client of Leasehold's tasks: create them, wait for them, and work on them.

One file, Python 3.9 or newer, standard library only. Install it, or copy it as leasehold.py next
to your program.

    import leasehold

    client = leasehold.Client()                      # http://127.0.0.1:7412
    task = client.create("count", {"words": ["a", "b"]})
    print(client.wait(task["id"])["result"])

    def count(task):                                 # in another process
        return len(task.data["words"])

    leasehold.Worker(client, {"count": count}).run()  # until SIGTERM

A coordinator that authenticates wants a token, and shows a certificate of its own CA:

    client = leasehold.Client("https://server:7412", token="@ci.token", ca="ca.pem")

Coordinators that share a realm are given together, and the client calls the one that serves:

    client = leasehold.Client("http://one:7412,http://two:7412")

Tasks are dictionaries with the fields of docs/json.md. Durations are seconds. A refused
request raises a subclass of Error. Requests that change something are repeated after errors
that can pass, with an idempotency key, so that they take effect once. All methods may be
called by several threads.
"""

from __future__ import annotations

import asyncio
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
import subprocess
import tempfile
import threading
import time
import traceback
import urllib.parse
import urllib.request
import uuid
from typing import Any, Awaitable, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, Union

log = logging.getLogger("leasehold")

_TRIES = 5  # of one request, at least
_WAIT = 20  # seconds that one request waits for a task, at most 25
_OUTAGE = 60  # seconds in which a call of Client goes on without a coordinator that has answered before
_MOST = 64  # tasks that one request claims, and ends that it tells
#: Characters and lines that a task keeps of what it logs.
_MOST_LOGGED = 2048
_MOST_TOLD = 512 * 1024  # characters of ends that one request tells, unless it tells one only
_KEPT = 8  # connections that a client keeps
_PAGE = 1000  # items of one page of a list
_CONNECT = 5  # seconds that one of several coordinators has to accept a connection
_SILENCE = 5  # seconds that one of several coordinators has to answer a session, at least


Fields = Dict[str, Any]  # a JSON object, with the fields of docs/json.md


class Error(Exception):
    """A request that the coordinator refused, or that did not reach it (status 0)."""

    def __init__(self, status: int, code: str, title: str, detail: str) -> None:
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

    happened: Optional[bool] = None
    _owner: str = ""  # from a coordinator that stands by: the URL of the one that serves


_ERRORS: Dict[str, Type[Error]] = {
    "invalid": Invalid, "usage": Invalid, "not_found": NotFound, "conflict": Conflict, "stale_token": StaleClaim,
    "key_reused": KeyReused, "closed": SessionClosed, "too_large": TooLarge, "overloaded": Unavailable,
    "unavailable": Unavailable, "unauthenticated": Unauthenticated, "forbidden": Forbidden,
}

# Codes of answers that are not from a coordinator, by status.
_OF_PROXIES = {429: "overloaded", 502: "unavailable", 503: "unavailable", 504: "unavailable"}


class GiveUp(Exception):
    """Raised by a handler: no worker could do the task, so it is dead at once."""


class HandBack(Exception):
    """Raised by a handler: not now. The attempt is not counted."""

    def __init__(self, delay: float = 0) -> None:
        super().__init__(f"handed back for {delay} s")
        self.delay = delay


class Client:
    """Calls the HTTP API of a coordinator, by default the one at LEASEHOLD_HTTP or port 7412.

    url and LEASEHOLD_HTTP may have several, separated by commas, that stand by for each other. A
    request goes to the one that answered last, and to the next one at once if it cannot be reached
    or stands by.

    token is what leasehold token create printed, or @FILE (default: LEASEHOLD_TOKEN). ca is a file
    with what leasehold identity show --ca printed (default: LEASEHOLD_CA). With one of them the
    default URL is https."""

    def __init__(self, url: Optional[str] = None, timeout: float = 60, *, token: Optional[str] = None, ca: Optional[str] = None) -> None:
        token = _secret(token or os.environ.get("LEASEHOLD_TOKEN") or "")
        ca = ca or os.environ.get("LEASEHOLD_CA")
        scheme = "https://" if token or ca else "http://"
        urls = [part.strip() for part in (url or os.environ.get("LEASEHOLD_HTTP") or "127.0.0.1:7412").split(",")]
        if not url:
            urls = [scheme + address for address in urls]
        headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        self._all = [_Coordinator(each, ca, headers, timeout) for each in urls]
        self._first = self._all[0]  # which answered last
        self._answered = False  # whether a coordinator has, so that one restarts if none does

    def create(self, action: str, data: Any = None, *, key: Optional[str] = None, **options: Any) -> Fields:
        """Create a task and return it. Options are the fields of the API, such as priority=5,
        timeout=60, unique_key="a", after=["t1"]. The same key creates the task once."""
        return self._post("/tasks", {"action": action, "data": data, **options}, key, patient=True)

    def create_all(self, tasks: Iterable[Mapping[str, Any]], *, key: Optional[str] = None) -> List[Fields]:
        """Create tasks, all or none: dictionaries with action, data and options."""
        items: List[Fields] = self._post("/task-batches", {"tasks": list(tasks)}, key, patient=True)["items"]
        return items

    def get(self, task_id: str) -> Fields:
        """Return a task, alive or ended. NotFound: it never was, or ended long ago."""
        return self._request("GET", "/tasks/" + _quote(task_id), patient=True)

    def parents(self, task_id: str) -> List[Fields]:
        """Return how the tasks of after of a task ended, with all of their results. NotFound: it
        never was, or has ended."""
        found: List[Fields] = []
        page: Fields = {"next": 0}
        while "next" in page:
            page = self._request("GET", f"/tasks/{_quote(task_id)}/parents?offset={page['next']}", patient=True)
            found += page["items"]
        return found

    def wait(self, task_id: str, timeout: Optional[float] = None) -> Fields:
        """Wait until a task is resolved, dead or cancelled, and return it, also while the
        coordinator restarts for up to a minute. After timeout seconds, TimeoutError."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        left: float = 0  # the first request does not wait, to learn whether a coordinator answers
        while True:
            task = self._request("GET", f"/tasks/{_quote(task_id)}?wait={math.ceil(left)}", patient=True, end=end)
            if task["state"] in ("resolved", "dead", "cancelled"):
                return task
            now = time.monotonic()
            if now >= end:
                raise TimeoutError(f"task {task_id} is {task['state']} after {timeout} s")
            left = min(_WAIT, end - now)

    def cancel(self, task_id: str, reason: str = "", *, key: Optional[str] = None) -> None:
        """End a task that has not ended; its worker stops. The same key does it once."""
        self._post(f"/tasks/{_quote(task_id)}/cancel", {"reason": reason}, key, patient=True)

    def requeue(self, task_id: str, *, key: Optional[str] = None) -> None:
        """Have a dead task tried again. The same key does it once."""
        self._post(f"/dead/{_quote(task_id)}/requeue", None, key, patient=True)

    def actions(self) -> List[Fields]:
        """Return the actions with their figures, by name: tasks by state, pause, workers, rates, durations."""
        return self._list("/actions")

    def leases(self) -> List[Fields]:
        """Return the leases of managers."""
        return self._list("/leases")

    def attention(self) -> Fields:
        """Return what a person should look at: the time at, and items, the worst first."""
        return self._request("GET", "/attention", patient=True)

    def history(self, action: Optional[str] = None, span: str = "hour") -> Fields:
        """Return the counts of tasks by interval, of one action or of all. span is hour, day or two-weeks."""
        query = {"span": span, **({"action": action} if action else {})}
        return self._request("GET", "/history?" + urllib.parse.urlencode(query), patient=True)

    def count(self, **filter: Any) -> Fields:
        """Count the tasks that a filter selects: those that are alive, or those of a state. The filter is
        state, action, tag, group, text, data, older and younger; a field that is missing selects all. Pass
        the answer to requeue_selected, discard_selected or cancel_selected."""
        return self._request("GET", "/bulk/count?" + urllib.parse.urlencode(filter), patient=True)

    def requeue_selected(self, seen: Fields, **filter: Any) -> Fields:
        """Have the dead tasks that a filter selects tried again. seen is what count returned for it with
        state="dead". Later ones are left out; Conflict: more are selected than were counted. Return the
        ids in done, and refused: task, code and detail of those that could not be changed."""
        return self._selected("requeue", seen, filter)

    def discard_selected(self, seen: Fields, **filter: Any) -> Fields:
        """Remove the dead tasks that a filter selects, as requeue_selected does."""
        return self._selected("discard", seen, filter)

    def cancel_selected(self, seen: Fields, reason: str = "", **filter: Any) -> Fields:
        """End the tasks that a filter selects and that are alive, as requeue_selected does."""
        return self._selected("cancel", seen, {**filter, "reason": reason})

    def session(self, serves: Optional[Mapping[str, int]] = None, *, name: Optional[str] = None, ttl: float = 30) -> Session:
        """Open the session of a worker that serves actions: a dictionary of action and slots.
        It lives while a request of it comes every ttl seconds. A worker of the same name is
        not offered the task that it just failed; the default is the machine and the process."""
        return Session(self, serves or {}, name or f"{socket.gethostname()}/{os.getpid()}", ttl)

    def _list(self, path: str) -> List[Fields]:
        found: List[Fields] = []
        offset = 0
        while True:
            page = self._request("GET", f"{path}?offset={offset}&limit={_PAGE}", patient=True)
            found += page["items"]
            read = len(page["items"]) + page.get("omitted", 0)  # these are too large to be shown
            offset += read
            if read == 0 or offset >= page["total"]:
                return found

    def _selected(self, verb: str, seen: Fields, filter: Mapping[str, Any]) -> Fields:
        body = {**filter, "count": seen["count"], "before": seen["at"]}
        if verb != "cancel":
            body.pop("state", None)  # it is that of dead tasks
        changed: Fields = {"done": [], "refused": []}
        while True:  # each request changes some
            part = self._post("/bulk/" + verb, body, None, patient=True)
            changed["done"] += part["done"]
            changed["refused"] += part["refused"]
            if "next" not in part:
                return changed
            body["cursor"] = part["next"]

    def _post(self, path: str, body: Any, key: Optional[str] = None, **more: Any) -> Fields:
        return self._request("POST", path, body, key or str(uuid.uuid4()), **more)

    def _request(self, method: str, path: str, body: Any = None, key: Optional[str] = None, calling: Optional[_Call] = None,
                 patient: bool = False, end: float = math.inf, within: Optional[float] = None) -> Fields:
        if key is not None and not (len(key) <= 128 and all("!" <= c <= "~" for c in key) and key):
            raise Invalid(0, "invalid", "invalid", f"key {key!r}: want 1 to 128 visible characters of ASCII")
        pause, tries, sent = 0.1, 0, False
        until = min(end, time.monotonic() + _OUTAGE) if patient and self._answered else 0
        left: List[_Coordinator] = []  # those that were not asked since the latest pause
        told: Optional[Unavailable] = None  # by those that were: rather not that one stands by
        while True:
            at, *left = left or self._in_order()
            try:
                answer = at.ask(method, path, body, key, calling, within if self._are_several else None)
                self._answered, self._first = True, at
                return answer
            except Unavailable as err:
                sent = sent or err.happened is None
                told = err if told is None or not err._owner else told
                if calling and calling.stopped or not left or err.code != "unavailable":
                    tries += 1
                    away = err.status in (0, 503)
                    if calling and calling.stopped or tries >= _TRIES and not (away and time.monotonic() < until):
                        told.happened = None if sent else False
                        if key:
                            told.args = (f"{told}; {'it may have happened' if sent else 'it did not happen'}",)
                        raise told
                    left, told = [], None
                left.sort(key=lambda other: other.url != err._owner)
            if not left:
                time.sleep(pause)
                pause = min(2 * pause, 2)

    @property
    def _are_several(self) -> bool:
        return len(self._all) > 1

    def _in_order(self) -> List[_Coordinator]:
        """Return the coordinators, from the one that answered last on."""
        n = self._all.index(self._first)
        return self._all[n:] + self._all[:n]


class _Coordinator:
    """One of the coordinators of a client, with the connections to it."""

    def __init__(self, url: str, ca: Optional[str], headers: Dict[str, str], timeout: float) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url {url!r}: want one such as http://127.0.0.1:7412")
        if "Authorization" in headers and parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise ValueError(f"url {url!r}: a token is sent over https only, because others could read it")
        self.url = url.rstrip("/")
        self._tls = _trusting(ca) if parts.scheme == "https" else None
        self._address, self._headers, self._timeout = parts.netloc, headers, timeout
        self._base = parts.path.rstrip("/") + "/api/v1"
        self._kept: List[http.client.HTTPConnection] = []  # connections without a request, of this process
        self._process = os.getpid()

    def ask(self, method: str, path: str, body: Any, key: Optional[str], calling: Optional[_Call], within: Optional[float]) -> Fields:
        """Send a request, and return the answer. within is how many seconds it may take, if that is less than the timeout."""
        headers = {**self._headers, **({"Idempotency-Key": key} if key else {})}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        what, sent = f"{method} {self._address}{path}", False
        while True:
            connection, kept = self._connection()
            try:
                if not kept:
                    connection.timeout = self._timeout if within is None else min(_CONNECT, self._timeout)
                    connection.connect()
                connection.sock.settimeout(self._timeout if within is None else min(within, self._timeout))
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
        if response.status >= 300:
            raise _refused(response.status, _problem(text), response.reason)
        answer: Fields = json.loads(text) if text.strip() else {}
        return answer

    def _connection(self) -> Tuple[http.client.HTTPConnection, bool]:
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
    def _exchange(connection: http.client.HTTPConnection, calling: Optional[_Call], *request: Any) -> Tuple[http.client.HTTPResponse, bytes]:
        """Send a request and return its response and the content of that. calling may break it off."""
        if calling:
            calling.began(connection.sock)
        try:
            connection.request(*request)
            response = connection.getresponse()
            if response.will_close and response.length is None and response.status != 204:
                raise http.client.IncompleteRead(b"")  # http.client takes the end of a connection for that of the header
            return response, response.read()
        finally:
            if calling:
                calling.ended()


def _problem(text: bytes) -> Fields:
    """Return a problem document; an empty one if the answer is a proxy's."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _refused(status: int, answer: Fields, title: str = "") -> Error:
    """Return the error of a problem document."""
    code: str = answer.get("code", _OF_PROXIES.get(status, "internal"))
    err = _ERRORS.get(code, Error)(status, code, answer.get("title", title), answer.get("detail", ""))
    if isinstance(err, Unavailable):
        err._owner = answer.get("owner", "")
        if code == "overloaded" or err._owner:
            err.happened = False
    return err


def _secret(text: str) -> str:
    """Return a secret, which may be in a file (@FILE)."""
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    return text.strip()


def _trusting(ca: Optional[str]) -> ssl.SSLContext:
    """Return the settings of TLS that trust the CA in a PEM file; those of the system without one."""
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as err:
        raise ValueError(f"ca {ca!r}: {err}: want a PEM file (leasehold identity show --ca)") from err


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unreached(detail: str, happened: Optional[bool]) -> Unavailable:
    err = Unavailable(0, "unavailable", "unavailable", detail)
    err.happened = happened
    return err


class _Call:
    """A request that another thread may break off, or a signal, whose handler runs within what the main
    thread does, even within these functions: so their lock may be taken again."""

    def __init__(self) -> None:
        self._lock, self.stopped = threading.RLock(), False
        self._socket: Optional[socket.socket] = None

    def began(self, sock: Optional[socket.socket]) -> None:
        with self._lock:
            self._socket = sock
        if self.stopped:
            self.stop()

    def ended(self) -> None:
        with self._lock:
            self._socket = None  # another request may use it next

    def stop(self) -> None:
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

    def __init__(self, client: Client, serves: Mapping[str, int], name: str, ttl: float) -> None:
        self._client, self._ttl = client, ttl
        self._reopen: Optional[Callable[[], None]] = None  # set by a Worker: what to do after SessionClosed
        self._body = {
            "name": name, "ttl": ttl, "host": socket.gethostname(), "pid": os.getpid(),
            "serves": [{"action": a, "slots": n} for a, n in serves.items()],
        }
        self.id: str = self._post("/sessions", self._body)["id"]

    def _post(self, path: str, body: Any, key: Optional[str] = None, *, wait: float = 0, calling: Optional[_Call] = None) -> Fields:
        """Send a request that is answered within wait seconds. Another coordinator is asked soon enough to keep the session."""
        return self._client._post(path, body, key, calling=calling, within=wait + max(_SILENCE, self._ttl / 3))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def resume(self) -> None:
        """Go on after a restart of the coordinator. SessionClosed: the session was lost."""
        self._post("/sessions", {**self._body, "resume": self.id})

    def heartbeat(self, wait: float = 0, *, _calling: Optional[_Call] = None) -> Fields:
        """Keep the session alive. Return what it has: a dictionary with claims and draining. With
        wait, up to 25 seconds, that is when it loses a task or shall drain."""
        return self._post(self._path("/heartbeat"), {"wait": wait}, wait=wait, calling=_calling)

    def claim(self, actions: Optional[Iterable[str]] = None, *, limit: int = 1, wait: float = 0, _calling: Optional[_Call] = None) -> List[Task]:
        """Claim up to limit tasks of the actions (those that the session serves if None), and
        wait up to 25 seconds for the first one. Return a list of Task, which may be empty."""
        body: Fields = {"limit": limit, "wait": wait, **({"actions": list(actions)} if actions else {})}
        found = self._post(self._path("/claims"), body, wait=wait, calling=_calling)
        return [Task(self, fields) for fields in found["items"]]

    def _next(self, ends: Sequence[_End], limit: int, key: uuid.UUID) -> Tuple[List[Fields], List[Task]]:
        """End tasks, and claim up to limit others in the same step. ends are _End, key belongs to them. Return
        the answers to the ends, and a list of Task."""
        body = b'{"limit":%d,"finish":[%s]}' % (limit, b",".join(end.content for end in ends))
        found = self._post(self._path("/claims"), body, f"{key}/{self.id}")
        return found["finished"], [Task(self, fields) for fields in found["items"]]

    def end(self) -> None:
        """End the session. Tasks that it has are handed back."""
        try:
            self._client._request("DELETE", self._path(""))
        except (NotFound, SessionClosed):
            pass  # it was lost

    def _path(self, rest: str) -> str:
        return f"/sessions/{_quote(self.id)}{rest}"


class Task:
    """A task that a session has claimed. fields has all that the API returned."""

    def __init__(self, session: Session, fields: Fields) -> None:
        self._session, self.fields = session, fields
        self.id: str = fields["id"]
        self.action: str = fields["action"]
        self.data: Any = fields.get("data")
        self.attempts: int = fields["attempts"]
        self.token: int = fields["token"]
        self._log: Deque[str] = collections.deque(maxlen=_MOST_LOGGED)
        self._on_stop: Callable[[], object] = lambda: None
        self._deadline: Optional[float] = None  # of a Worker: when the timeout is over
        self._parents: List[Fields] = fields.get("parents", [])
        #: Set when the worker must stop: the task was cancelled, timed out or is another's.
        self.stopped = threading.Event()
        #: Set when the worker drains: finish soon, or the task is handed back.
        self.draining = threading.Event()

    @property
    def parents(self) -> List[Fields]:
        """How the tasks of after ended. Results that are too large for one claim are read when
        this is used first."""
        if any(p.get("left_out") for p in self._parents):
            self._parents = self._session._client.parents(self.id)
        return self._parents

    def extend(self, fraction: Optional[float] = None, text: str = "") -> None:
        """Start the timeout of the task again, and note its progress: from 0 to 1, and a text."""
        progress: Fields = {} if fraction is None else {"progress": {"fraction": fraction, "text": text}}
        self._call("extend", progress)
        if self._deadline:
            self._watch()

    def resolve(self, result: Any = None, create: Iterable[Mapping[str, Any]] = ()) -> List[Fields]:
        """End the task with its result, any JSON, and create further tasks in the same
        transaction. Return those. The lines of log are kept with its end."""
        body = {"result": result, **({"create": list(create)} if create else {}), **self._output()}
        items: List[Fields] = self._call("resolve", body)["items"]
        return items

    def release(self, error: str, *, delay: float = 0, output: str = "", give_up: bool = False) -> None:
        """Give the task back after an attempt that failed. Another worker may try, after delay
        seconds; with give_up, or past its attempts, it is dead."""
        self._call("release", {"error": error, "delay": delay, "output": output, "give_up": give_up})

    def hand_back(self, delay: float = 0) -> None:
        """Give the task back without counting an attempt."""
        self._call("hand-back", {"delay": delay})

    def log(self, text: str) -> None:
        """Note a line. The last 2 KiB of them are kept with the attempt: before the traceback, if it fails."""
        self._log.append(text[-_MOST_LOGGED:])

    def _logged(self) -> str:
        return "".join(line + "\n" for line in list(self._log))[-_MOST_LOGGED:]

    def _output(self) -> Fields:
        logged = self._logged()
        return {"output": logged} if logged else {}

    def _stop(self) -> None:
        self.stopped.set()
        self._on_stop()

    def _watch(self) -> None:
        """Start the timeout, at whose end a Worker sets stopped."""
        self._deadline = time.monotonic() + self.fields["timeout"]

    def _call(self, verb: str, body: Fields) -> Fields:
        path = self._session._path(f"/claims/{_quote(self.id)}/{verb}")
        body = {"token": self.token, **body}
        try:
            return self._session._post(path, body)
        except SessionClosed:
            if not self._session._reopen:
                raise
        self._session._reopen()
        return self._session._post(path, body)


def _describe(err: BaseException) -> str:
    """Return the kind of an exception and, if it has one, its message."""
    return f"{type(err).__name__}: {err}" if str(err) else type(err).__name__


def _let_others_go_on() -> None:
    """Let other threads run before this one goes on."""
    try:
        time.sleep(0)
    except OSError:  # libfaketime refuses it after its clock has jumped
        pass


class _End:
    """How a task ended, as a request tells it: the field resolve, release or hand_back."""

    def __init__(self, task: Task, verb: str, what: Optional[str], body: Fields) -> None:
        self.task, self.what = task, what
        self.plain: Optional[Callable[[], _End]] = None  # the same without output, which older coordinators refuse
        body = {"task": task.id, verb: {"token": task.token, **body}}
        self.content = json.dumps(body, allow_nan=False).encode()


#: When another worker may try: after seconds, or after those that a function returns for the number of
#: attempts that failed before. None: never, the task is dead.
Retry = Union[float, Callable[[int], float], None]


class _Worker:
    """What workers share: the session, claims and ends. Subclasses say how a task is worked on."""

    def __init__(self, client: Client, actions: Iterable[str], concurrency: int, name: Optional[str], ttl: float, drain: float,
                 retry: Optional[Mapping[Type[BaseException], Retry]]) -> None:
        self._client, self._actions, self._concurrency = client, list(actions), concurrency
        if not self._actions or concurrency < 1:
            raise ValueError("a worker needs at least one handler, and a concurrency of at least 1")
        self._name, self._ttl, self._drain, self._retry = name, ttl, drain, dict(retry or {})
        self._jobs: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()  # of the threads
        self._threads = 0
        lock = threading.RLock()  # guards the fields below
        self._changed, self._clock = threading.Condition(lock), threading.Condition(lock)
        self._running: Set[Task] = set()  # tasks whose handlers have not returned
        self._ends: Deque[_End] = collections.deque()  # of tasks whose handlers have, and that are not told
        self._telling = False  # whether a thread tells them
        self._asked = 0  # tasks that requests under way may bring
        self._stopping = False
        self._claiming, self._beating = _Call(), _Call()
        self._ended = threading.Event()
        self._reopening = threading.Lock()

    def stop(self) -> None:
        """Claim nothing new, finish or hand back, and have run return."""
        self._stopping = True
        self._claiming.stop()

    def _begin_work(self, task: Task) -> None:
        raise NotImplementedError

    def _work(self) -> None:
        """Work until stop is called or an administrator drains the session."""
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

    def _begin(self) -> bool:
        try:
            self._session = self._open()
        except Unavailable as err:
            self._pause(err)
            return False
        return True

    def _pause(self, err: Error) -> None:
        if not self._stopping:
            log.warning("coordinator unreachable, retrying: %s", err)
            self._ended.wait(1)

    def _open(self) -> Session:
        session = self._client.session({a: self._concurrency for a in self._actions}, name=self._name, ttl=self._ttl)
        session._reopen = self._reopen
        return session

    def _ask(self) -> int:
        """Return for how many tasks there is room, and count them as asked for."""
        free = 0 if self._stopping else min(self._concurrency - len(self._running) - self._asked, _MOST)
        self._asked += free
        return free

    def _claim(self) -> None:
        """Wait for tasks, unless what tells ends asks for them too."""
        with self._changed:
            free = 0 if self._telling else self._ask()
            if free == 0:
                self._changed.wait(0.2)  # a signal does not notify
                return
        tasks: List[Task] = []
        try:
            tasks = self._session.claim(limit=free, wait=_WAIT, _calling=self._claiming)
        except SessionClosed:
            try:
                self._reopen()
            except Unavailable as err:
                self._pause(err)
        except Unavailable as err:
            self._pause(err)
        finally:
            self._start(tasks, free)

    def _start(self, tasks: Sequence[Task], asked: int) -> None:
        """Work on tasks, of as many as were asked for."""
        with self._changed:
            self._asked -= asked
            for task in tasks:
                task._watch()
                if self._stopping:
                    task.draining.set()
                self._running.add(task)
                self._clock.notify()
        for task in tasks:
            self._begin_work(task)

    def _run_in_thread(self, job: Callable[[], None], threads: int) -> None:
        """Have one of so many threads call a function."""
        while self._threads < threads:
            threading.Thread(target=self._serve, daemon=True).start()
            self._threads += 1
        self._jobs.put(job)

    def _serve(self) -> None:
        for job in iter(self._jobs.get, None):
            job()

    def _reopen(self) -> None:
        """Resume the session after a restart of the coordinator, or open another one."""
        with self._reopening:
            try:
                self._session.resume()
            except Conflict:
                pass  # it lives: another thread has resumed it
            except SessionClosed:
                log.warning("the session was lost; its tasks are offered to others")
                for task in self._unfinished():
                    task._stop()
                self._session = self._open()

    def _unfinished(self) -> List[Task]:
        with self._changed:
            return list(self._running)

    def _beat(self) -> None:
        """Keep a heartbeat waiting, which answers when a task is lost or the session shall drain.
        Then see what the session has: tasks may have been claimed while it waited."""
        pause: float = 0
        while not self._ended.wait(pause):
            pause = self._ttl / 3
            try:
                try:
                    draining, known = self._see()
                    if draining:
                        continue
                    if known:
                        wait = min(_WAIT, self._ttl / 3) if self._client._are_several else _WAIT
                        self._session.heartbeat(wait, _calling=self._beating)
                    pause = 0.1
                except SessionClosed:
                    if not self._stopping:
                        self._reopen()
            except Error as err:
                if not self._ended.is_set():
                    log.warning("heartbeat: %s", err)

    def _see(self) -> Tuple[bool, bool]:
        """Stop the tasks that the session does not have. Return whether it shall drain, and whether it is known
        of each task that it has it: one that was claimed meanwhile may be lost already, and nothing tells
        that again."""
        running = self._unfinished()
        state = self._session.heartbeat()
        has = {(c["task"], c["token"]) for c in state["claims"]}
        for task in running:
            if (task.id, task.token) not in has:
                task._stop()
        draining: bool = state["draining"]
        if draining:
            self.stop()
        known = all((task.id, task.token) in has or task in running for task in self._unfinished())
        return draining, known

    def _watch(self) -> None:
        """Stop the tasks whose timeout is over."""
        with self._changed:
            while not self._ended.is_set():
                now, next_end = time.monotonic(), math.inf
                for task in self._running:
                    end = task._deadline or math.inf
                    if end > now:
                        next_end = min(next_end, end)
                    elif not task.stopped.is_set():
                        task._stop()
                self._clock.wait(min(next_end - now, threading.TIMEOUT_MAX))

    def _succeeded(self, task: Task, result: Any) -> _End:
        end = self._end(task, "resolve", "result", {"result": result, **task._output()})
        if task._log and end.what == "result":
            end.plain = lambda: self._end(task, "resolve", "result", {"result": result})
        return end

    def _failed(self, task: Task, err: BaseException) -> Optional[_End]:
        """Return the end of a task whose handler raised an exception: None if the task is another's."""
        if isinstance(err, StaleClaim):
            log.info("task %s was taken away", task.id)
            return None
        if isinstance(err, GiveUp):
            return self._end(task, "release", "reason", {"error": str(err), "give_up": True})
        if isinstance(err, HandBack):
            return self._end(task, "hand_back", "delay", {"delay": err.delay})
        log.warning("task %s failed", task.id, exc_info=err)
        output = task._logged() + "".join(traceback.format_exception(type(err), err, err.__traceback__))
        return self._end(task, "release", "error", {"error": _describe(err), "output": output, **self._again(task, err)})

    def _again(self, task: Task, err: BaseException) -> Fields:
        """Return the fields of a release that say when the task is tried again."""
        for kind, when in self._retry.items():
            if isinstance(err, kind):
                if when is None:
                    return {"give_up": True}
                return {"delay": when(task.attempts) if callable(when) else when}
        return {}

    def _end(self, task: Task, verb: str, what: str, body: Fields) -> _End:
        try:
            return _End(task, verb, what, body)
        except Exception as err:  # it is no JSON
            return self._refused(task, what, err)

    @staticmethod
    def _refused(task: Task, what: str, err: Exception) -> _End:
        """Return the end of a task whose end was refused, because it is too large, out of range or no
        JSON: the attempt failed. Else the task would be claimed until its timeout."""
        log.warning("%s of task %s: %s", what, task.id, err)
        return _End(task, "release", None, {"error": f"its {what} was refused: {_describe(err)}"[:2000]})

    def _done(self, task: Task, end: Optional[_End]) -> bool:
        """Note the end of a task. Return whether the caller shall have _tell called."""
        with self._changed:
            self._running.discard(task)
            if end:
                self._ends.append(end)
            tells = bool(self._ends) and not self._telling
            self._telling = self._telling or tells
            self._changed.notify_all()
        return tells

    def _tell(self) -> None:
        """Tell how tasks ended, and claim others in the same request, until all is told."""
        while True:
            _let_others_go_on()  # one request tells all handlers that return at once
            with self._changed:
                ends = self._next_ends()
                free = self._ask() if ends else 0
                if not ends:
                    self._telling = False
                    self._changed.notify_all()
                    return
            self._start(self._next(ends, free), free)

    def _next_ends(self) -> List[_End]:
        """Return ends that one request can tell, none if all are told."""
        ends: List[_End] = []
        size = 0
        while self._ends and len(ends) < _MOST:
            size += len(self._ends[0].content)
            if ends and size > _MOST_TOLD:
                break
            ends.append(self._ends.popleft())
        return ends

    def _next(self, ends: List[_End], limit: int) -> List[Task]:
        """Tell ends, and return up to limit further tasks."""
        try:
            answers, tasks = self._report(ends, limit)
        except (Unavailable, SessionClosed) as err:
            log.warning("tasks %s: %s", ", ".join(end.task.id for end in ends), err)
            return []
        except Error as err:
            if len(ends) == 1:
                self._judge(ends[0], err)
                return []
            for end in ends:  # one of them is refused, and none is told
                self._next([end], 0)
            return []
        for end, answer in zip(ends, answers):
            if "code" in answer:
                self._judge(end, _refused(200, answer))
        return tasks

    def _judge(self, end: _End, err: Error) -> None:
        """Look at the error with which an end was refused."""
        if isinstance(err, StaleClaim):
            log.info("task %s was taken away", end.task.id)
        elif end.what:
            with self._changed:
                self._ends.append(end.plain() if end.plain else self._refused(end.task, end.what, err))
        else:
            log.warning("task %s: %s", end.task.id, err)

    def _report(self, ends: List[_End], limit: int) -> Tuple[List[Fields], List[Task]]:
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

    def _finish(self) -> None:
        """Give handlers time to finish, and hand back the tasks of the others."""
        with self._changed:
            for task in self._running:
                task.draining.set()
            self._changed.wait_for(lambda: not (self._running or self._ends or self._telling), self._drain)
        for task in self._unfinished():
            try:
                task.hand_back()  # first, because a handler that stops might resolve the task
            except Error as err:
                log.info("task %s: %s", task.id, err)
            task._stop()


class Worker(_Worker):
    """Works on tasks: handlers are functions of a Task by action. What a handler returns is the
    result. If it raises GiveUp, the task is dead; HandBack, it is offered later; any other
    exception releases it, so that another worker may try, after the delay that retry has for the
    class of the exception.

    concurrency is the number of tasks at a time, each in a thread. When the worker stops, its
    handlers have drain seconds to finish; tasks that do not are handed back."""

    def __init__(self, client: Client, handlers: Mapping[str, Callable[[Task], Any]], *, concurrency: int = 1, name: Optional[str] = None,
                 ttl: float = 30, drain: float = 30, retry: Optional[Mapping[Type[BaseException], Retry]] = None) -> None:
        super().__init__(client, handlers, concurrency, name, ttl, drain, retry)
        self._handlers = dict(handlers)

    def run(self) -> None:
        """Work until stop is called, SIGTERM or SIGINT comes (in the main thread), or an
        administrator drains the session."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        self._work()

    def _begin_work(self, task: Task) -> None:
        # One thread more than tasks, because one tells how tasks ended.
        self._run_in_thread(lambda: self._handle(task), min(len(self._running), self._concurrency) + 1)

    def _handle(self, task: Task) -> None:
        end: Optional[_End]
        try:
            end = self._succeeded(task, self._handlers[task.action](task))
        except BaseException as err:  # also sys.exit, which would end only this thread
            end = self._failed(task, err)
        if self._done(task, end):
            self._tell()


class AsyncWorker(_Worker):
    """A Worker whose handlers are coroutine functions, in the event loop that awaits run. The handler
    of a task that was cancelled, timed out or is another's is cancelled. Methods of Task that ask
    the coordinator block: await asyncio.to_thread(task.extend, 0.5)."""

    def __init__(self, client: Client, handlers: Mapping[str, Callable[[Task], Awaitable[Any]]], *, concurrency: int = 1, name: Optional[str] = None,
                 ttl: float = 30, drain: float = 30, retry: Optional[Mapping[Type[BaseException], Retry]] = None) -> None:
        super().__init__(client, handlers, concurrency, name, ttl, drain, retry)
        self._handlers = dict(handlers)
        self._coroutines: Set[asyncio.Task[None]] = set()  # the loop does not keep them

    async def run(self) -> None:
        """Work until stop is called, it is cancelled, SIGTERM or SIGINT comes (in the main thread), or
        an administrator drains the session."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self._loop.call_soon_threadsafe(self.stop))
        work = asyncio.ensure_future(asyncio.to_thread(self._work))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stop()
            await work
            raise

    def _begin_work(self, task: Task) -> None:
        self._loop.call_soon_threadsafe(self._spawn, task)

    def _spawn(self, task: Task) -> None:
        coroutine = self._loop.create_task(self._handle(task))
        self._coroutines.add(coroutine)
        coroutine.add_done_callback(self._coroutines.discard)
        task._on_stop = lambda: self._loop.call_soon_threadsafe(coroutine.cancel)
        if task.stopped.is_set():
            coroutine.cancel()

    async def _handle(self, task: Task) -> None:
        end: Optional[_End] = None
        try:
            end = self._succeeded(task, await self._handlers[task.action](task))
        except BaseException as err:
            if not (task.stopped.is_set() and isinstance(err, asyncio.CancelledError)):
                end = self._failed(task, err)
        if self._done(task, end):
            self._run_in_thread(self._tell, 1)


class TestCoordinator:
    """A coordinator for a program's own tests, with a folder that is removed at its end:

        with leasehold.TestCoordinator() as coordinator:
            client = coordinator.client()

    program is the binary; else it is leasehold in the path."""

    __test__ = False  # it is no class of tests for pytest

    def __init__(self, program: str = "leasehold") -> None:
        self._program = program

    def __enter__(self) -> TestCoordinator:
        self._folder = tempfile.TemporaryDirectory()
        command = [self._program, "coordinator", "--data", self._folder.name, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        self._log = open(os.path.join(self._folder.name, "log"), "w+", encoding="utf-8")
        self._process = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        try:
            self.url = self._started()
        except BaseException:
            self.__exit__()
            raise
        return self

    def client(self) -> Client:
        return Client(self.url)

    def _started(self) -> str:
        """Wait until the coordinator is ready, and return its URL."""
        end = time.monotonic() + 60
        while self._process.poll() is None and time.monotonic() < end:
            try:
                with open(os.path.join(self._folder.name, "coordinator.json"), encoding="utf-8") as file:
                    url: str = "http://" + json.load(file)["http"]
                urllib.request.urlopen(url + "/readyz", timeout=1).close()
                return url
            except (OSError, ValueError):
                time.sleep(0.02)
        self._log.seek(0)
        raise RuntimeError(f"{self._program} coordinator did not start: {self._log.read()[-2000:]}")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")
