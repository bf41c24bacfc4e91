// Package remote is a catalog that is kept at the coordinator: the client of its
// HTTP API, for managers in processes of their own.
//
// It is a catalog.Catalog like any other, and passes the same suite. Errors come
// back as the kinds that they were. What cannot be reached is fault.ErrUnavailable,
// after a few tries with a jittered back-off: every call may be repeated, because
// every write to a catalog is idempotent; only AddOrigin may then say of a new
// origin that it is known. A list is read in pages, so one that changes meanwhile
// may show a thing twice or not at all.
//
// JSON carries text as UTF-8: a name that is none comes back mended.
package remote
