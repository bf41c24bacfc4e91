//go:build nextformat

package postgres

// raised makes this program one that is a version newer, for the test of a rolling upgrade (internal/chaos).
const raised = 1
