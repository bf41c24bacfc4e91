// Package apiclient speaks the coordinator's HTTP API: what people and scripts ask
// of it (status, spaces, tasks, dead letters, origins), and the transport under
// every other client of it, such as package catalog/remote.
//
// An error is the kind that it was at the coordinator, in the coordinator's words;
// what cannot be reached, or what answers and is no coordinator, is
// fault.ErrUnavailable, and names the address. A call is tried once unless it says
// that it may be repeated (Call.Repeat): a put or a get that is repeated would be
// done twice, since the API has no operation ids.
//
// What is taken over HTTP is not acknowledged: the answer to Get may be lost on its
// way, and the tuple with it.
//
// Lists are read in pages, so one that changes meanwhile may show a thing twice or
// not at all. The documents have the field names of docs/json.md.
package apiclient
