// Package worker claims tasks, runs their handlers, and reports, resolves or
// releases them.
package worker
