import time

import dramatiq
from counted import main
from dramatiq.brokers.redis import RedisBroker

COUNTED = None


def connect(address):
    dramatiq.set_broker(RedisBroker(url=address))

    @dramatiq.actor
    def add(n):
        COUNTED.add(n)

    return add


def work(address, handlers, counted):
    global COUNTED
    COUNTED = counted
    connect(address)
    dramatiq.Worker(dramatiq.get_broker(), worker_threads=handlers).start()
    while True:
        time.sleep(60)


main(lambda address: connect(address).send, work)
