// Package docs tests the documentation. It has only tests.
//
//   - commands_test.go executes every ```sh block of the documents (README.md,
//     CONTRIBUTING.md, docs, examples) in a sandbox, with the real binary, and compares ```output blocks
//     with what the block before them printed.
//   - inline_test.go parses every `leasehold …` and `go test …` between backquotes:
//     commands, flags, packages, tests and benchmarks must exist.
//   - links_test.go checks that links between files lead to a file and a heading.
//   - diagrams_test.go draws docs/diagrams (make diagrams writes them).
//   - monitoring_test.go checks the dashboard and the alert rules with promtool.
//   - recording_test.go compares docs/demo.svg with a run of the demo (make recording
//     writes it).
package docs
