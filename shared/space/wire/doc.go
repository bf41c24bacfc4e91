// Package wire is the binary form in which requests, replies and errors travel
// between a session and an engine, and the frames that carry them. The native gate
// and the remote client use it over a connection; Loopback uses it within a process,
// so that the suites show that encoding changes no behaviour.
//
// A frame is
//
//	length  4 bytes, big-endian: of all that follows, at most MaxFrame
//	version 1 byte: 2
//	kind    1 byte: Request, Reply, Failure, …
//	call    uvarint: the number of the request that a reply or failure answers
//	body    the rest
//
// and a body is any number of fields in any order, each
//
//	tag     uvarint
//	length  uvarint
//	content length bytes: an integer as a (zigzag) varint, a string, a tuple or
//	        template as package tuple encodes it, or fields again
//
// An absent field has its zero value. Request.Acknowledged, Reply.Tuples, Infos and Events, and the codes of an
// error, are one field for each element.
//
// Compatibility: readers skip fields whose tag they do not know, so that fields may be
// added at any time. A field that an old reader must not ignore needs a new version,
// because peers of different versions refuse each other with an error that names both.
// Tags are never used again for another field, also because journals keep replies in
// this encoding.
//
// Version 2 added the request fields args and acknowledged; version 1 sent both as the
// tuple.
//
// Invariants: what a decoder returns is valid, shares no memory with its input, and
// takes memory in proportion to it. A decoder fails with fault.ErrInvalid or
// fault.ErrTooLarge, and never panics. An error that was carried has the same text, and
// is (errors.Is) the same kinds of package fault and the same context error, but no
// other error.
package wire
