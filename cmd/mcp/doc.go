// Package mcp serves tools to assistants by the Model Context Protocol over a pair of
// streams: one JSON-RPC message a line.
//
// It has what a server with tools needs: initialize, ping, tools/list and tools/call.
// Notifications are accepted and have no effect. Requests are answered in their order. A
// message is at most 1 MiB; a longer or malformed one is answered with an error, and the
// next is read.
//
// The SDK of the protocol is not used, because it brings an OAuth client, JSON Web Tokens, a
// second JSON encoder and a JSON Schema validator for three tools over standard input.
package mcp
