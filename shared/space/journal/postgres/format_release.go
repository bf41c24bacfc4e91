//go:build !nextformat

package postgres

const raised = 0
