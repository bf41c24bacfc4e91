// Package pgserver starts PostgreSQL for tests. Database gives a test a new database on a server that all tests of
// the process share. New starts a server of the test's own, which the test may stop, kill and freeze.
//
// Where the programs of PostgreSQL are missing, the test is skipped.
//
// Invariants: servers listen on a free port of the loopback address only. When the process ends, also by SIGKILL, a
// shell that waits for it kills its servers and removes their folders.
package pgserver
