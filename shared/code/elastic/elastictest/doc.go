// Package elastictest is a search server in memory for tests of package elastic. It has the
// part of the protocol of Elasticsearch and OpenSearch that the package uses, and refuses
// everything else: unknown routes, parameters, settings, types of fields, fields of
// documents, and queries, with the errors that a real server sends.
//
// Where a real server is lenient or lucky, it is strict: a search sees only documents that
// were refreshed, a write to an index that does not exist fails instead of creating it, and a
// query for a field that no mapping has is an error.
//
// Tests make it fail by Server.Fail and Server.FailItem.
package elastictest
