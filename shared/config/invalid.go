package config

import (
	"strings"

	"leasehold/shared/fault"
)

// A Fault is one error in a configuration.
type Fault struct {
	Key    string `json:"key"`              // as written; it may be unknown
	Source string `json:"source,omitempty"` // as in Value
	Text   string `json:"problem"`
}

// Error returns the problem after its source.
func (f Fault) Error() string {
	if f.Source == "" {
		return f.Text
	}
	return f.Source + ": " + f.Text
}

// Invalid is all errors in a configuration. errors.Is finds fault.ErrUsage in it.
type Invalid []Fault

// Error has one line for each fault.
func (i Invalid) Error() string {
	lines := make([]string, 0, len(i))
	for _, f := range i {
		lines = append(lines, f.Error())
	}
	return strings.Join(lines, "\n")
}

// Is makes errors.Is(i, fault.ErrUsage) true.
func (i Invalid) Is(target error) bool { return target == fault.ErrUsage }
