import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../clients/python"))
import leasehold
from counted import main


def create(address):
    client = leasehold.Client(address)
    return lambda n: client.create("add", n)


def create_all(address, number):
    client = leasehold.Client(address)
    for first in range(0, number, 500):
        client.create_all([{"action": "add", "data": n} for n in range(first, min(number, first + 500))])


def work(address, handlers, counted):
    async def add(task):
        return counted.add(task.data)

    client = leasehold.Client(address)
    if "async" in sys.argv:
        asyncio.run(leasehold.AsyncWorker(client, {"add": add}, concurrency=handlers).run())
    else:
        leasehold.Worker(client, {"add": lambda task: counted.add(task.data)}, concurrency=handlers).run()


main(create, work, create_all)
