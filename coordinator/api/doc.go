// Package api is the coordinator's HTTP API: origins, visits, episodes, clips, findings,
// problems, spaces, tasks, dead letters and status as JSON under /api/v1; and /healthz,
// /readyz, /metrics, and a page at /.
//
// Users, scripts and upstream curators call it, and managers that keep their catalog at
// the coordinator (package api/catalog). Workers in other languages open a session and claim
// tasks in it: a claimed task is offered again if the response cannot be written or the session
// ends. A plain get of a tuple has no acknowledgement: if a client dies before it has read the
// response, the tuple is lost. The workers of Leasehold use the native gate.
//
// Each route declares its parameters, its body and its response (routes.go). Requests are
// checked against the declarations, and the OpenAPI document is generated from them
// (OpenAPI; served at /api/v1/openapi.yaml and written to docs/openapi.yaml by leasehold
// openapi). The types of bodies are in package api/types.
//
// Every error is a problem document (RFC 9457) whose status and code come from the table
// of package fault. Everything is bounded: bodies (maxBody, and maxListing for the
// listings of managers), pages (maxPage), concurrent requests (MaxInFlight), and the time
// of each. A request takes a slot after its body has arrived, which must not be slow, until its answer is
// written, which must not be read slowly, and
// managers' calls have slots of their own; health and metrics take none of these. Unknown fields
// and parameters are errors. A request that panics fails alone, and is counted.
//
// There is no authentication yet, so requests that a browser was tricked into sending are refused: writes from
// another web origin, and requests whose Host is not one of the coordinator's names, because DNS rebinding sends
// those (Config.Hosts). Paths can be added as origins only from this machine. The package does not terminate TLS.
package api
