// Package versus compares the native gate with other work queues, in the versions that
// Debian has. It has only a benchmark:
//
//	make bench
//	go test ./internal/versus -run '^$' -bench . -benchtime 1x
//
// Each server is a process on loopback, with its data on the same disk. 8 clients with
// one connection each put an item of 200 bytes, take an item in such a way that it would
// return to the queue if the client died, and end it:
//
//	leasehold   put, get; the client sends the acknowledgement by itself
//	Redis       LPUSH, BRPOPLPUSH to a list of the client, LREM from it
//	beanstalkd  put, reserve, delete
//
// The servers are measured in turns, and the medians are compared. The benchmark also
// prints the processor time of server and clients per item, and the context switches.
// The clients of Redis and beanstalkd are a few lines each, so that no library adds cost.
package versus
