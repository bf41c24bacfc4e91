// Package api holds all that server and clients of the HTTP API share: the bodies of requests
// and answers (types), the client (client), a coordinator's catalog and code index as their
// interfaces (catalog, code), and the decoding of JSON without unknown fields (strictjson). The
// server is coordinator/api. Nothing here depends on the coordinator, because workers and other
// programs link it.
package api
