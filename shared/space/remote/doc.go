// Package remote is the client of a native gate: a space.Conn over a network, and
// with space.Over a Repository like any other. A process keeps one; any number of
// goroutines may use it.
//
// A lost connection is replaced, after a pause that grows and is jittered so that the clients of a coordinator that
// restarts do not all return at once. Calls that were not answered are sent again under their old number and
// operation id, so that they happen once; callers notice only the delay. While there is no connection, calls wait
// until their context ends. If the session was lost meanwhile, the gate refuses the client, or Config.Reconnect has
// passed, all calls end with fault.ErrClosed: then a new Conn has to be dialled.
//
// Exactly once: each put happens once, and a tuple that one get takes no other takes.
// Two cases remain open, because no protocol can close them. A call that ends with its
// context's error may have happened if the connection was down at that moment; a get
// gives back what it took. And a get returns the tuple to its caller as soon as it has
// arrived, before the acknowledgement is confirmed: if the session is lost before that
// gets through, the tuple also comes back to its space. No tuple is ever lost. (An
// answer that was lost is sent again as long as the engine keeps it, which is for at
// least space.Window later ones; because of that a Conn has at most that many calls at
// a time.)
//
// The package does not keep the session alive: a session with a TTL needs signs of
// life (package status); a connection alone is none.
package remote
