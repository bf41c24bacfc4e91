// Package conformance checks the running system against its models. It has only tests.
//
//   - archive_test.go: the archive flow, in fake time, with two managers and three
//     workers, killed at random.
//   - conform_test.go: the logs of such runs conform to the models of
//     tup4fun/conform/models, also over restarts of the coordinator.
//   - mutants_test.go: logs with one changed event do not conform; docs/benchmarks.md
//     has the rejected share.
//   - demos_test.go: the logs of the example programs conform, and changed ones do not.
package conformance
