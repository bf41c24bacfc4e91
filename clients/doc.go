// Package clients tests the clients of the HTTP API for other languages, and Go's. It has only tests.
//
// Each folder has one file to copy, a README.md with an example, and a driver: a program that executes lines of its
// input with the client. testdata/cases has the required behaviour of each client, as data, also when the network, the coordinator or
// the process fails. So all languages have the same tests, and a client of a further one needs a driver, the
// examples web and worker, and a row in the table of the test. The driver for Go is the test's own program; its worker is
// the package worker, over the native protocol.
//
// A language whose programs are not installed is left out, and .ci/test prints that.
package clients
