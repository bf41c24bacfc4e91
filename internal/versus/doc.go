// Package versus compares the native gate with other work queues, as they come
// with Debian. It has only a benchmark:
//
//	make bench
//	go test ./internal/versus -run '^$' -bench . -benchtime 1x
//
// Every server is a process of its own on loopback, with its data on the same
// disk; 8 clients with one connection each put an item of 200 bytes, take an item
// so that it would come back if the client died, and end it:
//
//	leasehold   put, get, whose acknowledgement the client sends by itself
//	Redis       LPUSH, BRPOPLPUSH to a list of the client's, LREM from it
//	beanstalkd  put, reserve, delete
//
// All of them take turns, and the medians are compared. What an item takes of the
// server's processor time and of the clients' is printed beside them, and how often
// their threads change. Redis and beanstalkd are
// spoken to with a few lines of their protocols, without a library's cost.
package versus
