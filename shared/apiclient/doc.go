// Package apiclient is the client of the coordinator's HTTP API: status, spaces, tasks, dead letters and origins
// for commands, and the transport of other clients such as package catalog/remote. Package apitypes has the
// request and response types.
//
// Errors have the kind and the message that the coordinator gave them. If the coordinator cannot be reached, or if the
// response is not a coordinator's, calls fail with fault.ErrUnavailable, and the error names the address. A call
// is retried if Call.Repeat is set, or if it has an operation id (WithOperation), which those about tasks have.
// Operations on spaces have none: a repeated put or get would be executed twice.
//
// A tuple taken over HTTP is lost if its response is lost, because the API has no
// acknowledgement.
//
// Lists are read in pages: an item of a list that changes meanwhile may appear twice or
// not at all.
package apiclient
