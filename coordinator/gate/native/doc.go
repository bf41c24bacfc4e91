// Package native is the gate through which managers, workers and clients reach
// the spaces of a coordinator: each has one connection, which carries the frames of
// package wire.
//
//	client                                  gate
//	  preamble, Hello(session, key, TTL) ──▶
//	                                     ◀── preamble, Welcome; or Failure, and the end
//	                                         (also for a preamble of another version)
//	  Request 7 ─────────────────────────▶   any number at a time
//	  Request 8 ─────────────────────────▶
//	                                     ◀── Reply 8 | Failure 8      in any order
//	  Cancel 7 ──────────────────────────▶
//	                                     ◀── Failure 7, or its Reply if that was faster
//	        ◀── Ping, Pong in either direction after a silence ──▶
//	  ✂ reconnect: Hello(…, resume) ─────▶
//	                                     ◀── Welcome
//	  Request 9, again ──────────────────▶   all requests that were not answered
//	                                     ◀── Reply 9, the first one
//	  Request End ───────────────────────▶
//	                                     ◀── Ended, and the end
//
// A session outlives its connection. With a TTL it is lost if no procedure counted a
// sign of life for that long, whether it has a connection or not; without a TTL it is
// lost if it has had no connection for Config.Grace. Until then a client that has its
// key may reconnect and continue: blocked gets, queries and puts still wait, in their
// old order, and answers that were lost are sent again. Procedures that wait, such as claims
// of tasks, wait only while there is a connection: the client repeats them.
//
// Calls are numbered by the client, across connections. A changing call has an
// operation id besides, and the engine knows its first answer. The answer to a call
// that consumes something else (a message, an event, a new subscription) is kept here
// until VerbAck confirms that it arrived. For a get the engine keeps what it took: see
// space.Request.Ack.
//
// Invariants: one malformed message, one faulty client or one panic ends one connection
// and never the gate; no length that a client announces is allocated before the bytes
// arrive; all that a client can make grow is bounded by Config or package wire, and
// what exceeds a bound is refused with fault.ErrOverloaded. Serve returns only when all
// goroutines that it started have ended.
//
// It does not authenticate: every client that reaches the gate may use the spaces. It
// does not interpret what it carries.
package native
