from counted import main
from huey import RedisHuey

COUNTED = None


def connect(address):
    huey = RedisHuey("add", url=address)

    @huey.task()
    def add(n):
        return COUNTED.add(n)

    return huey, add


def work(address, handlers, counted):
    global COUNTED
    COUNTED = counted
    connect(address)[0].create_consumer(workers=handlers, worker_type="thread").run()


main(lambda address: connect(address)[1], work)
