import celery
from counted import main

COUNTED = None


def connect(address):
    app = celery.Celery("add", broker=address, backend=address)
    app.conf.update(task_acks_late=True, worker_redirect_stdouts=False)

    @app.task(name="add")
    def add(n):
        return COUNTED.add(n)

    return app, add


def work(address, handlers, counted):
    global COUNTED
    COUNTED = counted
    connect(address)[0].worker_main(["worker", "--pool", "threads", "--concurrency", str(handlers), "--loglevel", "ERROR", "--without-mingle", "--without-gossip"])


main(lambda address: connect(address)[1].delay, work)
