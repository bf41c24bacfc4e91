#!/usr/bin/env python3
"""Writes the conversations of a jSpace client that the gate's tests replay.

The requests and answers follow the description of the protocol in docs/interop.md. They
are written here and not by the gate, so that the tests compare two programs.
"""
import json, os, sys

def value(t, v): return {"type": "pspace:" + t if ":" not in t and "." not in t and t[0] not in "[J" else t, "value": v}
def actual(t, v): return {"formal": False, "value": value(t, v)}
def formal(t): return {"formal": True, "value": "pspace:" + t if "." not in t and t[0] not in "[J" else t}
S = lambda v: value("string", v)
I = lambda v: value("int", v)
a = lambda n: [S("a"), I(n)]
nested = value("tuple", [S("in"), I(9)])
rule = value("template", [actual("string", "x"), formal("int")])
everything = [S("t"), S("s"), I(-32), value("long", 64), value("double", 2.5), value("float", 1.5), value("boolean", True),
              value("char", "c"), value("byte", 3), nested]
types = ["string", "int", "long", "double", "float", "boolean", "char", "byte", "tuple"]

def request(kind, space="space", tuple=None, template=None, blocking=False, all=False):
    m = {"messageType": kind + "_REQUEST", "target": space, "blocking": blocking, "all": all}
    if tuple is not None: m["tuple"] = tuple
    if template is not None: m["template"] = template
    return m

def ok(kind, tuples=None):
    m = {"messageType": kind + "_RESPONSE", "status": True, "statusCode": "200", "statusMessage": "OK"}
    if tuples is not None: m["tuples"] = tuples
    return m

def bad(kind): return {"messageType": kind, "status": False, "statusCode": "400", "statusMessage": "Bad Request"}

A = 'server holds ("a",1), ("a",2)'
one = {  # name: operation, request, answer
    "get-actual": (A, request("GET", template=[actual("string", "a"), actual("int", 2)], blocking=True), ok("GET", [a(2)])),
    "get-formal": (A, request("GET", template=[actual("string", "a"), formal("int")], blocking=True), ok("GET", [a(1)])),
    "get-object": ('server holds ("job", Job("n",3))', request("GET", template=[actual("string", "job"), formal("Job")], blocking=True),
                   ok("GET", [[S("job"), value("Job", {"name": "n", "n": 3})]])),
    "get-template": ('server holds ("rule", Template("x", int))', request("GET", template=[actual("string", "rule"), formal("template")], blocking=True),
                     ok("GET", [[S("rule"), rule]])),
    "get-unknown-space": ("", request("GET", "nospace", template=[formal("int")], blocking=True), bad("FAILURE")),
    "getall-none": (A, request("GET", template=[actual("string", "zz"), formal("int")], all=True), ok("GET", [])),
    "getall-two": (A, request("GET", template=[actual("string", "a"), formal("int")], all=True), ok("GET", [a(1), a(2)])),
    "getp-actual": (A, request("GET", template=[actual("string", "a"), actual("int", 2)]), ok("GET", [a(2)])),
    "getp-formal": (A, request("GET", template=[actual("string", "a"), formal("int")]), ok("GET", [a(1)])),
    "getp-miss": (A, request("GET", template=[actual("string", "zz"), formal("int")]), ok("GET", [])),
    "getp-miss-long": (A, request("GET", template=[actual("string", "a"), formal("long")]), ok("GET", [])),
    "getp-unknown-space": ("", request("GET", "nospace", template=[formal("int")]), bad("FAILURE")),
    "put-unknown-space": ("", request("PUT", "nospace", tuple=[S("x")]), bad("PUT_RESPONSE")),
    "query-all-actuals": ('server holds ("t","s",-32', request("QUERY", template=[{"formal": False, "value": v} for v in everything], blocking=True),
                          ok("GET", [everything])),
    "query-all-types": ('server holds ("t","s",-32', request("QUERY", template=[actual("string", "t")] + [formal(t) for t in types], blocking=True),
                        ok("GET", [everything])),
    "queryall-two": (A, request("QUERY", template=[actual("string", "a"), formal("int")], all=True), ok("GET", [a(1), a(2)])),
    "queryall-unknown-space": ("", request("QUERY", "nospace", template=[formal("int")], all=True), bad("FAILURE")),
    "queryp-number": (A, request("QUERY", template=[actual("string", "a"), formal("java.lang.Number")]), ok("GET", [a(1)])),
    "queryp-object": (A, request("QUERY", template=[actual("string", "a"), formal("java.lang.Object")]), ok("GET", [a(1)])),
    "queryp-template-actual": ('server holds ("rule", Template("x", int))',
                               request("QUERY", template=[actual("string", "rule"), {"formal": False, "value": rule}]), ok("GET", [[S("rule"), rule]])),
    "raw-ack": ("", {"messageType": "ACK", "target": "space"}, bad("FAILURE")),
    "raw-get-without-template": ("", {"messageType": "GET_REQUEST", "target": "space"}, bad("FAILURE")),
    "raw-put-without-tuple": ("", {"messageType": "PUT_REQUEST", "target": "space"}, bad("PUT_RESPONSE")),
    "raw-unknown-message-type": ("", {"messageType": "FOO_REQUEST", "target": "space"}, bad("FAILURE")),
}
for name, v in {"arraylist": value("java.util.ArrayList", ["a", "b"]), "boolean": value("boolean", True), "byte": value("byte", 3),
                "char": value("char", "c"), "double-whole": value("double", 2.0), "double": value("double", 1.5), "float": value("float", 2.5),
                "int-array": value("[I", [1, 2]), "int-negative": I(-1), "long": value("long", 2), "long-large": value("long", 2**53 + 1),
                "object": value("Job", {"name": "n", "n": 3}), "short": value("java.lang.Short", 5), "string-empty": S(""),
                "string-escapes": S("<a> & 'b' = \"c\" \n"), "string-utf8": S("bl\u00e5b\u00e6r \u20ac \U0001F600"), "template-nested": rule,
                "tuple-nested": nested}.items():
    one["put-" + name] = ("put one tuple, then take it by its value", request("PUT", tuple=[v]), ok("PUT"),
                          request("GET", template=[{"formal": False, "value": v}]), ok("GET", [[v]]))
one["put-no-fields"] = ("put(), then take it", request("PUT", tuple=[]), ok("PUT"), request("GET", template=[]), ok("GET", [[]]))

late = request("GET", template=[actual("string", "late"), formal("int")], blocking=True)
arrived = ok("GET", [[S("late"), I(7)]])
put_late = request("PUT", tuple=[S("late"), I(7)])

def line(m, session, escape=False):
    if session is not None: m = dict(m, clientSession=str(session))
    text = json.dumps(m, separators=(",", ":"), ensure_ascii=False)
    if escape:  # as Gson does
        for c in "<>&='": text = text.replace(c, "\\u%04x" % ord(c))
    return (text + "\n").encode().hex()

def write(name, operation, lines):
    with open(os.path.join(os.path.dirname(sys.argv[0]), "conversations", name + ".txt"), "w") as f:
        f.write("# operation: %s\n" % operation + "\n".join(lines) + "\n")

for name, (operation, *messages) in one.items():
    keep, conn = ["# connection 1"], []
    for i in range(0, len(messages), 2):
        keep += ["> " + line(messages[i], i // 2, True), "< " + line(messages[i + 1], i // 2)]
        conn += ["# connection %d" % (i // 2 + 1), "> " + line(messages[i], None, True), "< " + line(messages[i + 1], None),
                 "# closed by the server", "# closed by the client"]
    write("keep-" + name, operation, keep + ["# closed by the client"])
    write("conn-" + name, operation, conn)
write("keep-get-blocked-same-connection", "a get waits, while the same connection puts", [
    "# connection 1", "> " + line(late, 0), "> " + line(request("PUT", tuple=[S("other"), I(1)]), 1), "< " + line(ok("PUT"), 1),
    "> " + line(put_late, 2), "< " + line(ok("PUT"), 2) + "\n< " + line(arrived, 0), "# closed by the client"])
for mode, sessions in (("keep", (0, 0)), ("conn", (None, None))):
    for verb in ("GET", "QUERY"):
        wait = dict(late, messageType=verb + "_REQUEST")
        write("%s-%s-blocked" % (mode, verb.lower()), "an operation waits, until another client puts", [
            "# connection 1", "> " + line(wait, sessions[0]), "# connection 2", "> " + line(put_late, sessions[1]), "< " + line(ok("PUT"), sessions[1]),
            "# connection 1", "< " + line(arrived, sessions[0]), "# closed by the client", "# connection 2", "# closed by the client"])
