"""A worker that is told to stop again while it is told to stop. signals.py URL ACTION"""

import signal
import socket
import sys
import threading

import leasehold

shutdown = socket.socket.shutdown


def interrupted(sock, how):
    """Shut down, and have a second signal come meanwhile."""
    socket.socket.shutdown = shutdown
    signal.raise_signal(signal.SIGINT)
    shutdown(sock, how)


worker = leasehold.Worker(leasehold.Client(sys.argv[1]), {sys.argv[2]: lambda task: None})
claim = leasehold.Session.claim


def waiting(*args, **options):
    threading.Timer(0.2, signal.raise_signal, [signal.SIGTERM]).start()  # when the claim waits
    return claim(*args, **options)


leasehold.Session.claim = waiting
socket.socket.shutdown = interrupted
worker.run()
assert socket.socket.shutdown is shutdown
