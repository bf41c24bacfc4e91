// Package gospace has the Go API of goSpace on the spaces of Leasehold: a program written for
// github.com/pspaces/gospace changes its import line.
//
// NewSpace("name") makes a space in this process. NewSpace("tcp://host:port/name") opens a space
// to a network at that address with the native gate or, if another program listens there, joins
// the space of that program: a coordinator, or a process that uses this package. NewRemoteSpace
// only joins.
//
// In a template, a pointer stands for every value of the type that it points to. After a
// successful Get, GetP, Query or QueryP the values of the match are stored through these
// pointers; WithoutBinding turns that off.
//
// Operations find the oldest match, and waiting calls are served in the order in which they
// came. The differences from goSpace are listed in docs/interop.md.
//
// A space open to a network does not authenticate: every program that reaches the address may use it. A coordinator may:
// NewRemoteSpace("tls://host:port/name") uses the token and the CA of the environment.
package gospace
