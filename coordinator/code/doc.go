// Package code is the coordinator's code index: it receives the segments that workers
// built, and publishes and removes the generations of origins.
//
// A worker uploads a segment by its SHA-256, in parts, and continues an upload that broke
// off. A segment enters the index when all of it is there, its hash is right, and the index
// has checked it; until then it is a file in a folder of its own, which is bounded in
// bytes. Parts that nothing has continued for an hour are removed.
//
// A generation is published only for an origin of the catalog, in one critical section
// with the removal of origins, so that a visit that ends late does not bring back what the
// operator has removed.
package code
