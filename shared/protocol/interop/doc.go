// Package interop is the protocol of the gates that speak foreign languages: goSpace and
// jSpace. It has what their clients need beyond the operations of a space:
//
//   - Patterns. A Java int must find a Go int as well as an int32, and java.lang.Object
//     finds every Java value, so a field of a Pattern accepts several types, where a field
//     of a tuple.Template accepts one. A get by pattern holds the tuple until the gate
//     confirms that the client has the answer.
//   - Foreign workers. A get in the space "task" is a claim, and a put of a result with the
//     token of that claim reports it.
//
// Invariants: what a get by pattern took comes back to its old place if the session ends
// before it is confirmed. A claim is one of package task, so all its invariants hold.
//
// A pattern of many types is a scan of the space. Patterns of one type for each field
// are plain templates (Pattern.Plain), and the gates use the operations of the space for
// them.
package interop
