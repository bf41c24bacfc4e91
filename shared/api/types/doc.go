// Package types holds the request and response bodies of the coordinator's HTTP API:
// package coordinator/api reads and writes them, package api/client and the commands use
// the same types, and the OpenAPI document is generated from them. Bodies that are the
// domain's own documents are in packages models and catalog.
//
// The struct tags are the contract: json names a field; a field without omitempty or
// omitzero is always present, and listed as required in the OpenAPI document; doc is its
// description there; enum lists the accepted values, separated by commas. Names of fields
// are the ones of docs/json.md and do not change; new fields may be added.
//
// The package only declares data. The coordinator validates it.
package types
