"""A worker: worker.py [URL of the coordinator]. It ends at SIGTERM or Ctrl-C, after its handlers.

The task report comes from a schedule: leasehold schedule add nightly report --cron '30 3 * * *' --zone Europe/Berlin
"""

import sys

import leasehold


def count(task):
    return len(task.data["text"].split())


def report(task):
    task.extend(0.5, "halfway")  # progress; starts the timeout again
    return "done for " + task.fields["tags"][-1]  # due:TIME


# No worker can count what is no text: such a task is dead at once. After an error of the network, it is tried in 5 s.
retry = {AttributeError: None, OSError: 5}
leasehold.Worker(leasehold.Client(*sys.argv[1:]), {"count": count, "report": report}, concurrency=4, retry=retry).run()
