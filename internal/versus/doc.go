// Command versus compares whole tasks of Leasehold with those of other queues: Redis as a
// reliable queue (LMOVE), Asynq on the same Redis, River on PostgreSQL, and beanstalkd, in
// the versions of Debian. It is a Go module of its own, so that the product does not depend
// on their clients.
//
//	make versus
//	cd internal/versus && go run . -slots 8 -batch 1
//
// Each server is a process on loopback with its data on the same disk, and is asked through
// one Go client, without pipelining. A slot creates a task with 200 bytes, claims one (in
// such a way that it would come back if the slot died), resolves it with a result, and
// consumes a result, all the time:
//
//	leasehold   CreateAll, Next (which resolves with a result tuple, and claims), get of that tuple
//	Redis       LPUSH, BLMOVE to a list of the slot, MULTI LREM LPUSH EXEC, BRPOP
//	Asynq       Enqueue, a handler that LPUSHes its result, BRPOP of it
//	River       Insert, a worker that records its output, the event of its completion
//	beanstalkd  put, reserve, put of the result into another tube, delete, reserve and delete
//
// The slots of leasehold share two sessions, as those of a worker do and those of a
// program that creates tasks: each is one connection. The others have a connection for each
// slot, or the pool of their client. 1,000 tasks wait at the beginning, because Asynq and
// River sleep when nothing waits. The peers are measured in turns, -repeats times; the
// medians are compared, and the lowest and highest ratio of a turn are printed.
//
// With -journal postgres, leasehold keeps its journal on the same PostgreSQL server as River.
package main
