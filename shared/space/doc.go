// Package space holds the interfaces of the tuple space: what a program sees of
// a set of spaces (Repository, Space), what a procedure sees (Tx), what every
// call becomes on its way to an engine (Request, Reply), and the kinds and
// options of spaces.
//
// A Repository belongs to one session. It is the same whether the engine is in
// this process or behind a connection, because both are a Conn: one method that
// carries a request there and a reply back. Over makes a Repository of a Conn;
// engine, wire's loopback and the remote client are the Conns.
//
// Errors that errors.Is finds, from every method: fault.ErrInvalid for a malformed tuple, template or name;
// fault.ErrNotFound for a space or procedure that does not exist; fault.ErrConflict for a name in use;
// fault.ErrOverloaded if a bound is reached; fault.ErrTooLarge for an answer larger than MaxReply; fault.ErrClosed
// once the session or the engine has ended; fault.ErrUnavailable if the outcome is unknown, in which case the call
// may be repeated with its operation id; and the context's error. All methods may be called concurrently.
//
// Fairness: of the getters (and waiting procedures) that match a tuple, the one that
// waited longest is served; a cancelled one never takes.
package space
