// Package remote is a client of the coordinator's catalog over its HTTP API, for managers in other processes.
//
// It passes the same suite as every catalog.Catalog. Errors keep their kinds. If the
// coordinator cannot be reached, calls are retried a few times with a jittered back-off
// and then fail with fault.ErrUnavailable. Every call may be repeated, because every write
// to a catalog is idempotent; but if the response of the first
// try was lost, AddOrigin reports a new origin as known, and RemoveOrigin reports a removed
// one as not found. Lists are read in pages: an item of a list that
// changes meanwhile may appear twice or not at all.
//
// JSON carries text as UTF-8, so invalid bytes in a name come back replaced.
package catalog
