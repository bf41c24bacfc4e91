// Package conformance checks the running system against its models. It has only tests.
//
//   - archive_test.go: the archive flow, in fake time, with two managers and three
//     workers, killed at random.
//   - features_test.go: users, their workers and programs, which do what docs/tasks.md
//     describes, at random.
//   - tour_test.go: the seldom procedures and steps, one after the other.
//   - coverage_test.go: these logs show all procedures of the coordinator, and all steps of
//     the models, except those with a reason.
//   - conform_test.go: the logs of such runs conform to the models of
//     tup4fun/conform/models, also over restarts of the coordinator.
//   - mutants_test.go: logs with one changed event do not conform; docs/benchmarks.md
//     has the rejected share.
//   - tampered_test.go: logs in which the system does what a broken twin of a protocol does.
//   - demos_test.go: the logs of the example programs conform, and changed ones do not.
package conformance
