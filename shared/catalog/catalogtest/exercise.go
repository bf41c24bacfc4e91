// Package catalogtest is the one conformance suite for all drivers of the
// catalog. A driver's test calls Exercise with a function that opens an empty
// catalog; the names of the subtests state the behaviour.
//
// Besides single behaviours it runs random histories against a naive catalog
// (type naive, maps and full scans): what a driver selects must be exactly what
// the naive one selects, and each history must reach the point where nothing is
// left to select. It does not test the specifics of a driver, such as files,
// migrations and locks.
package catalogtest

import (
	"testing"

	"leasehold/shared/catalog"
)

// Open opens a new, empty catalog. The suite closes it.
type Open func(t *testing.T) catalog.Catalog

// Exercise runs the suite.
func Exercise(t *testing.T, open Open) {
	t.Helper()
	ExerciseBehaviours(t, open)
	t.Run("concurrency", func(t *testing.T) { exerciseConcurrency(t, open) })
	t.Run("random histories select what a naive catalog would", func(t *testing.T) { exerciseHistories(t, open) })
}

// ExerciseBehaviours runs the suite without its random and concurrent parts.
func ExerciseBehaviours(t *testing.T, open Open) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []behaviour
	}{
		{"origins", originCases},
		{"curate", curateCases},
		{"gone", goneCases},
		{"priority", priorityCases},
		{"duplicates", duplicateCases},
		{"select", selectCases},
		{"ingest", ingestCases},
		{"lift", liftCases},
		{"retry", retryCases},
		{"causes", causeCases},
		{"audio", audioCases},
		{"refuse", refuseCases},
		{"texts", textCases},
		{"lists", listCases},
		{"parts", partCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, b := range group.cases {
				t.Run(b.name, func(t *testing.T) {
					b.check(newWorld(t, open))
				})
			}
		})
	}
}

// behaviour is one thing that a catalog promises.
type behaviour struct {
	name  string
	check func(w *world)
}
