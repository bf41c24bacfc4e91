// Package clients tests the clients of the HTTP API for other languages. It has only tests.
//
// Each folder has one file to copy, a README.md with an example, and conformance, a program
// that does what every client must do: it calls each verb and checks the answers, or with the
// argument worker it works on the tasks that the test creates. So what is tested is the same
// for each language, and a client of a further one needs such a program, the examples web and
// worker, and a row in the table of the test.
//
// A language whose programs are not installed is left out, and .ci/test prints that.
package clients
