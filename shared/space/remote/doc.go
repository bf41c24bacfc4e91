// Package remote is the client of a native gate: a space.Conn over a network, and
// with space.Over a Repository like any other. A process keeps one; any number of
// goroutines use it at a time.
//
// A connection that is lost is replaced, after a pause that grows and is jittered
// so that a restart of the coordinator is not followed by a stampede. What was not
// answered is asked again under its old number and operation id, so that it
// happens once; callers notice nothing but the time that it took. While there is
// no connection, calls wait until their context ends. A session that was lost
// meanwhile, and a gate that will have none of us, end all calls with
// fault.ErrClosed: then a new Conn has to be dialled.
//
// Exactly once: each put happens once, and what one get takes no other takes. Two
// ends remain open, as they must. A call that ends with its context's error may
// have happened if the connection was down at that moment; a get gives back what
// it took. And a get gives its caller the tuple as soon as it has arrived, while
// its acknowledgement is on its way: if the session is lost before that gets
// through, the tuple comes back to its space for somebody else. It is never
// nobody's. (An answer that was lost is given again as long as the engine keeps
// it, which is for space.Window later ones at least; that is why a Conn has no more
// calls than that at a time.)
//
// The package does not keep the session alive: a session with a TTL needs signs of
// life (package status), for which a connection is no substitute.
package remote
