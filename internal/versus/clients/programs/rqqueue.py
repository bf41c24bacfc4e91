import os
import sys
import threading
import time

import redis
import rq


def add(number):
    """Runs in a process of its own, whose lines the process that started it counts."""
    if number > 1e6:
        os.write(1, b"latency %f\n" % (1000 * (time.time() - number)))
    else:
        os.write(int(os.environ["LINES"]), b".")
    return number + 1


def work(address, total):
    lines, end = os.pipe()
    os.environ["LINES"] = str(end)
    os.set_inheritable(end, True)

    def count():
        for n in range(total):
            os.read(lines, 1)
            if n == 0:
                print("first", flush=True)
        print("last", flush=True)

    if total > 0:
        threading.Thread(target=count, daemon=True).start()
    rq.Worker(["add"], connection=redis.from_url(address)).work(logging_level="ERROR")


def main():
    what, address = sys.argv[1:3]
    if what == "work":
        work(address, int(sys.argv[4]))
        return
    queue = rq.Queue("add", connection=redis.from_url(address))
    for n in range(int(sys.argv[3])):
        if what == "slowly":
            time.sleep(0.05)
        queue.enqueue("rqqueue.add", time.time() if what == "slowly" else n)


if __name__ == "__main__":
    main()
