// Package gospace is the gate for programs of goSpace: it opens one space, because
// goSpace's clients do not name one. A connection is one request and at most one answer,
// both in the gob encoding.
//
//	client                                gate
//	  GET_REQUEST, Template ───────────▶
//	                                   ◀── Tuple, and the end
//
// Invariants: a GETP_REQUEST or QUERYP_REQUEST is always answered, also if it is refused,
// because goSpace's client would panic. Any other request that cannot be carried out is
// answered by the end of the connection, which the client reports as an error. A type's
// name is never resolved: values of types that package tuple does not have are kept as
// tuple.Opaque, in the form in which they came. What happens to a tuple whose answer is
// lost is decided in package foreign.
package gospace
