// Package conformance holds the running system against its models. It has only
// tests.
//
//   - archive_test.go: the archive flow, in fake time, with two managers and three
//     workers that are killed at random.
//   - conform_test.go: what such a run logs conforms to the models of
//     tup4fun/conform/models, over restarts of the coordinator too.
//   - mutants_test.go: logs that were tampered with do not; how many are caught is
//     in docs/benchmarks.md.
package conformance
