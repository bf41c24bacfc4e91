// Package ci tests the scripts in .ci that count the results of tests. It has only
// tests.
package ci
