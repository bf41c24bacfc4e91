"""What the programs in Python share: counting tasks, and their arguments.

program create ADDRESS N      creates N tasks that add 1
program slowly ADDRESS N      creates N tasks one after the other, with the time as data
program work ADDRESS HANDLERS N   does N tasks, and prints when the first begins and the last has ended
"""

import sys
import threading
import time


class Counted:
    def __init__(self, total):
        self._lock, self._total, self._begun, self._ended = threading.Lock(), total, 0, 0

    def add(self, number):
        """Do a task: add 1, or print how old a time is."""
        with self._lock:
            self._begun += 1
            begun = self._begun
        if self._total == 0:
            print("latency", 1000 * (time.time() - number), flush=True)
            return None
        if begun == 1:
            print("first", flush=True)
        with self._lock:
            self._ended += 1
            ended = self._ended
        if ended == self._total:
            print("last", flush=True)
        return number + 1


def main(create, work, create_all=None):
    """Do what the arguments say: create(address) returns a function that creates a task, create_all(address, n) creates n."""
    what, address, *numbers = sys.argv[-4:] if "work" in sys.argv else sys.argv[-3:]
    if what == "work":
        work(address, int(numbers[0]), Counted(int(numbers[1])))
        return
    if what == "create" and create_all:
        create_all(address, int(numbers[0]))
        return
    add = create(address)
    for n in range(int(numbers[0])):
        if what == "slowly":
            time.sleep(0.05)
        add(time.time() if what == "slowly" else n)
