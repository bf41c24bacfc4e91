package config

import (
	"strings"

	"leasehold/shared/fault"
)

// A Fault is one thing that is wrong with a configuration.
type Fault struct {
	Key    string `json:"key"`              // as it was written, perhaps no setting
	Source string `json:"source,omitempty"` // as in Value
	Text   string `json:"problem"`
}

// Error says where and what.
func (f Fault) Error() string {
	if f.Source == "" {
		return f.Text
	}
	return f.Source + ": " + f.Text
}

// Invalid is everything that is wrong with a configuration. It is
// fault.ErrUsage.
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
