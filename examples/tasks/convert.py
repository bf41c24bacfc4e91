"""Queues conversions of images, and works on them, four at a time, until all have ended."""
import threading

import leasehold

client = leasehold.Client()


def convert(task):
    if not task.data["file"].endswith(".png"):
        raise leasehold.GiveUp(task.data["file"] + " is not a PNG")
    task.extend(0.5, "decoded")
    return task.data["file"].replace(".png", ".webp")


def watch():
    for task in tasks:
        ended = client.wait(task["id"])
        print(ended["state"], ended.get("result") or ended["note"])
    worker.stop()


files = ["a.png", "b.png", "notes.txt"]
tasks = client.create_all({"action": "convert", "data": {"file": f}} for f in files)
worker = leasehold.Worker(client, {"convert": convert}, concurrency=4)
threading.Thread(target=watch).start()
worker.run()
