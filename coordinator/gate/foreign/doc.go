// Package foreign is what the gates for foreign programs (goSpace, jSpace) share: it
// accepts their connections within bounds, carries out their operations, and decides what
// happens to a tuple whose answer did not arrive.
//
// The foreign protocols have no sessions, no acknowledgements and no operation ids. So all
// their operations belong to sessions of the gate:
//
//   - A get holds its tuple. The hold ends when the client has the answer: it closed its
//     connection in order after it, sent another request, or did not break the connection
//     for a while. If the connection breaks before, the tuple returns to its old place. So
//     a tuple is lost only if the client's machine vanishes, and the coordinator learns of
//     it later than confirmAfter; and a client that broke the connection although it had
//     the answer may cause the tuple to be delivered twice.
//   - A get in the space "task" is a claim of package task: each claim has a session of its
//     own, because a session that has lost a task is not offered it again. A put of a
//     result with the token of a claim reports the task. Without it, the task times out.
//
// Invariants: a client that leaves takes nothing put later. No panic and no malformed message ends more than its
// connection. Connections, waiting calls, claims and bytes are bounded (Config). The spaces that only the
// protocols write to (space.Definition, QueryOnly) can only be queried.
//
// Nothing authenticates a client: every client that reaches a gate may use the spaces.
package foreign
