// Command clients compares workers in Python, JavaScript and Java with those of the queues of their languages: BullMQ,
// Dramatiq, Huey, Celery and RQ, on a Redis of Debian with appendfsync always. Leasehold is durable, as always.
//
//	make versus-clients
//	cd internal/versus && go run ./clients -tasks 4000 -handlers 1,8,32
//
// A peer is a program in programs. Its tasks add 1 to a number. For each number of handlers the program first creates the
// tasks, and then another process of it does them: it prints a line when its first handler begins, and one when its last
// handler has returned. The time between both gives the rate, and the processor time of the server and of the worker
// between both is divided by the tasks. The start of processes does not count. RQ forks a process for each task, so it has
// one handler and fewer tasks, and counts lines.
//
// The latency is from the call that creates a task to the start of its handler in another process, of tasks that are
// created one after the other, each when all is idle.
package main
