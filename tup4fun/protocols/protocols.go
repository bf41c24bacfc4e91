// Package protocols embeds the protocols of Leasehold as tup4fun models. Each has at
// least one broken twin: the same model with a plausible bug, which the checker refutes.
//
// A model is NAME.tup, a broken twin NAME.broken-BUG.tup. The first lines of a twin name
// the refuted properties in brackets. README.md lists the proofs of each protocol
// and their limits. The tests check all models, and compare their counts with
// Spin's.
//
// The running system is checked against such models, so they do not depend on its code:
// an atomic block stands for one procedure of the engine.
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
	Refuted []string // the properties that do not hold; only for twins
}

// Of returns the name of the protocol; for a twin, the name of its original.
func (m Model) Of() string {
	name, _, _ := strings.Cut(m.Name, ".broken-")
	return name
}

// Broken reports whether m is a broken twin.
func (m Model) Broken() bool { return m.Of() != m.Name }

// All returns the models by name. They are embedded in the program, so that an error would be a
// mistake of the build.
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
			m.Refuted = refutedProperties(m.Source)
		}
		all = append(all, m)
	}
	return all, nil
}

// refutedProperties reads "(refuted: a, b)" from the first comment of a twin.
func refutedProperties(src string) []string {
	_, after, _ := strings.Cut(strings.ReplaceAll(src, "\n//", ""), "(refuted: ")
	names, _, _ := strings.Cut(after, ")")
	return strings.Split(names, ", ")
}
