// Package codetest is the conformance suite of every code.Searcher, and its
// reference: Naive, which keeps all blobs in memory and reads every line in each search.
//
// Exercise checks an index against fixed expectations, and Compare against Naive. Both
// use only the interface, so they run on indexes in this process and on those behind a
// network.
package codetest
