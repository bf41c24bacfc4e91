"""A web server whose handler creates tasks: web.py PORT [URL of the coordinator]. worker.py does them.

curl -d 'so it goes' localhost:8000/counts      {"id": "t1"}
curl localhost:8000/counts/t1                   {"result": 3, "state": "resolved"}
"""

import sys

import flask
import leasehold

app = flask.Flask(__name__)
client = leasehold.Client(*sys.argv[2:])


@app.post("/counts")
def create():
    # A browser or a proxy that repeats its request with this header creates one task.
    key = flask.request.headers.get("Idempotency-Key")
    made = client.create("count", {"text": flask.request.get_data(as_text=True)}, key=key)
    return {"id": made["id"]}, 202


@app.get("/counts/<task>")
def show(task):
    shown = client.get(task)
    return {"state": shown["state"], "result": shown.get("result")}


@app.errorhandler(leasehold.Error)
def fail(err):
    return {"error": err.detail}, err.status or 503


app.run(port=int(sys.argv[1]))
