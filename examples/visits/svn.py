"""Lists and visits Subversion repositories: svn.py http://127.0.0.1:7412 FILE

FILE has one URL on each line. Run it every few minutes: it visits those that are due, and ends."""
import datetime, json, subprocess, sys, time, urllib.request

coordinator, file = sys.argv[1:]


def post(path, body):
    request = urllib.request.Request(coordinator + "/api/v1" + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def outcome(visit):
    origin = visit["origin"]
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()
    ended = {"visit": visit["id"], "origin": origin["id"], "at": now}
    info = ["svn", "info", "--non-interactive", "--show-item", "revision", "--", origin["uri"]]
    svn = subprocess.run(info, capture_output=True, text=True)
    if svn.returncode != 0:
        return ended | {"status": "failed", "error": svn.stderr[:500]}
    digest = "r" + svn.stdout.strip()
    known = visit.get("known", {}).get("digest")
    return ended | {"status": "uneventful" if digest == known else "eventful", "digest": digest}


post("/visit-types", {"type": "svn"})
lister = post("/listers", {"kind": "lister", "uri": "svn.py " + file})
with open(file) as lines:
    origins = [{"kind": "svn", "uri": line.strip()} for line in lines if line.strip()]
post("/listers/" + lister["id"] + "/origins", {"origins": origins, "full": True})
while visits := post("/visits/claims", {"type": "svn", "limit": 10})["items"]:
    for visit in visits:
        ended = outcome(visit)
        post("/visits/outcomes", ended)
        print(ended["status"], visit["origin"]["uri"])
    time.sleep(2)  # a host is left alone for a second after each visit
