"""Two workers in one process, whose handlers behave badly. badinput.py URL ACTION"""

import os
import sys
import threading
import time

import leasehold


def handle(task):
    do = task.data["do"]
    task.log(f"{do} in {threading.current_thread().name}")
    if do == "function":
        return print
    if do == "nan":
        return {"a": float("nan")}
    if do == "cycle":
        cycle = []
        cycle.append(cycle)
        return cycle
    if do == "bytes":
        return b"\x00"
    if do == "hang":  # it does not even look at task.stopped
        time.sleep(3600)
    if do == "exit":
        os._exit(3)
    if do == "fork":
        child = os.fork()
        if child == 0:
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return do


client = leasehold.Client(sys.argv[1])
workers = [leasehold.Worker(client, {sys.argv[2] + end: handle}, concurrency=2, ttl=1, drain=0.1) for end in ("-one", "-two")]
others = threading.Thread(target=workers[1].run, daemon=True)
others.start()
workers[0].run()
