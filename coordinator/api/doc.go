// Package api is the coordinator over HTTP and JSON: origins, visits, episodes,
// clips, findings, problems, spaces by template, tasks, dead letters and status,
// under /api/v1; /healthz, /readyz and /metrics beside it, and a page at /.
//
// It is for people, scripts and upstream curators, and for managers that keep
// their catalog at the coordinator (package catalog/remote). Workers use the
// gates: over HTTP a get is not acknowledged, so what is taken by a client that
// dies before it has read the answer is gone.
//
// Every error is a problem document (RFC 9457) whose status and code come from
// the table of package fault. Everything is bounded: bodies (MaxBody, and
// MaxListing for what a manager curates), pages (MaxPage), requests under way
// (MaxInFlight), the time that each may take. Unknown fields and parameters are
// errors. A request that panics fails alone, and is counted.
//
// There is no authentication yet, so browsers are kept out: writes from another
// origin are refused, and so are requests under a name that is not ours, which is
// what DNS rebinding looks like (Config.Hosts). An origin that is a path can be
// added only from this machine. It does not terminate TLS.
//
// openapi.yaml describes the routes; a test holds it against them.
package api
