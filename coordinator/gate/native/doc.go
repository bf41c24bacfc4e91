// Package native is the gate through which managers, workers and clients reach
// the spaces of a coordinator: one connection each, over which the frames of
// package wire travel.
//
//	client                                  gate
//	  preamble, Hello(session, key, TTL) ──▶
//	                                     ◀── preamble, Welcome | Failure, and the end
//	                                         (another version of the preamble: Failure)
//	  Request 7 ─────────────────────────▶   as many at a time as the client likes
//	  Request 8 ─────────────────────────▶
//	                                     ◀── Reply 8 | Failure 8      in any order
//	  Cancel 7 ──────────────────────────▶
//	                                     ◀── Failure 7, or what was served meanwhile
//	        ◀── Ping, Pong in either direction when nothing else came ──▶
//	  ✂ reconnect: Hello(…, resume) ─────▶
//	                                     ◀── Welcome
//	  Request 9, again ──────────────────▶   whatever was not answered
//	                                     ◀── Reply 9, the first one
//	  Request End ───────────────────────▶
//	                                     ◀── Over, and the end
//
// A session outlives its connection. With a TTL it is lost when no procedure
// noted a sign of life for so long, whether a connection is there or not; without
// one it is lost when it has had no connection for Config.Grace. Until then
// whoever has its key may come back, and goes on where it was: calls that blocked
// still block, at their old place; answers that got lost are given again.
//
// Calls are numbered by the client, across connections. A call that changes
// something has an operation id besides, and the engine knows its first answer. A
// call that consumes something else (a message, an event, a new subscription) is
// remembered here until VerbAck says that its answer arrived. What a get took is
// the engine's affair: see space.Request.Ack.
//
// Invariants: one bad message, one bad client or one panic ends one connection
// and never the gate; nothing is allocated on the word of a client; everything
// that a client can make grow is bounded by Config or package wire, and what is
// over the bound is refused with fault.ErrOverloaded. Serve returns only when all
// that it started has ended.
//
// It does not authenticate: who reaches the gate may use the spaces. It does not
// interpret what it carries.
package native
