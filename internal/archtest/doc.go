// Package archtest keeps the house in the shape of its plan. It has only tests.
//
//   - arrows_test.go: who may import whom (docs/architecture.md), over
//     `go list -deps -test`, ours and others'.
//   - size_test.go: no file over 600 lines, no function over 80; it prints the
//     longest of both and the medians.
//   - words_test.go: what every package must have (a doc), and what none may
//     (a process ended from within a library, a panic that is not on the list, a
//     test that sleeps or is skipped, a note of what is still to do).
//   - testing_test.go: the tests that docs/testing.md names exist, and the table of
//     faults names every test that is named after a row.
//   - gomod_test.go: docs/dependencies.md says of each direct dependency why.
//
// When a rule is in the way of a better house, change the rule here, and say why
// in the commit.
package archtest
