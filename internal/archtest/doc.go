// Package archtest checks the architecture and the style of the tree. It has only
// tests.
//
//   - imports_test.go: which package may import which (docs/architecture.md), over
//     `go list -deps -test`, our modules and others.
//   - size_test.go: no file over 600 lines, no function over 80; it prints the
//     longest of both and the medians.
//   - rules_test.go: every package has a doc; no library ends the process, no
//     function panics that panics.txt does not list, no test sleeps or is skipped,
//     no note defers work.
//   - words_test.go, plain_test.go: banned words and phrases in comments, texts,
//     names and documents, each with its plain alternative; limits per 10,000 words.
//   - listing_test.go: prints code lines, exported names without users, and long
//     functions without a comment. It never fails.
//   - testing_test.go: the tests that docs/testing.md names exist, and its table of
//     faults names every test named after a row.
//   - tuples_test.go: fields of tuples are read by index only where tuples are converted
//     to structs.
//   - gomod_test.go: docs/dependencies.md gives a reason for each direct dependency.
//
// If a rule makes the code worse, change the rule here, and give the reason in the
// commit.
package archtest
