// Package protocols holds the protocols of Leasehold as tup4fun models, each with at
// least one broken twin: the same model with a bug that somebody might well make,
// which the checker refutes.
//
// A model is NAME.tup, a broken twin NAME.broken-BUG.tup, whose first lines say in
// brackets which of its properties are refuted. README.md says of each what is
// proved and what is left out. The tests check all of them, and hold their counts
// against Spin's.
//
// The models are what the running system is held against, so they know no code of
// it: an atomic block stands for one procedure of the engine.
package protocols

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.tup
var files embed.FS

// Model is one protocol, or a broken twin.
type Model struct {
	Name    string // of the file, without .tup
	Source  string
	Refuted []string // the properties that do not hold; empty unless it is a twin
}

// Of returns the protocol that a twin is a twin of, or the name itself.
func (m Model) Of() string {
	name, _, _ := strings.Cut(m.Name, ".broken-")
	return name
}

// Broken reports whether m is a broken twin.
func (m Model) Broken() bool { return m.Of() != m.Name }

// All returns the models by name.
func All() ([]Model, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("protocols: %w", err)
	}
	var all []Model
	for _, e := range entries {
		src, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return nil, fmt.Errorf("protocols: %w", err)
		}
		m := Model{Name: strings.TrimSuffix(e.Name(), ".tup"), Source: string(src)}
		if m.Broken() {
			m.Refuted = refuted(m.Source)
		}
		all = append(all, m)
	}
	return all, nil
}

// refuted reads "(refuted: a, b)" in the comment that a twin begins with.
func refuted(src string) []string {
	_, after, _ := strings.Cut(strings.ReplaceAll(src, "\n//", ""), "(refuted: ")
	names, _, _ := strings.Cut(after, ")")
	return strings.Split(names, ", ")
}
