package page

import (
	"encoding/json"
	"fmt"
	"strings"

	"leasehold/examples/original"
	"leasehold/tup4fun/protocols"
)

// example is a program of the menu, as it is put into the boxes.
type example struct {
	Title   string `json:"title"`
	Init    string `json:"init"`
	Program string `json:"program"`
}

// embedded are the examples in the order of the menu: files of this package, or of examples/original.
var embedded = []struct{ file, title string }{
	{"philosophers", "Two philosophers"},
	{"philosophers-ticket", "Philosophers with tickets"},
	{"buffer-lock", "Buffer: the lock before the slot"},
	{"buffer", "Buffer: the slot before the lock"},
	{"readers-writers", "Readers and a writer"},
	{"queue", "Queue with two workers"},
	{"original/small", "Small model of the report, as printed"},
	{"original-small-repaired", "Small model of the report, repaired"},
	{"original/big", "Large model of the report, as printed"},
	{"original-large-repaired", "Large model of the report, repaired (one manager, two workers)"},
}

// leases are the protocols in the menu, by the name of the model.
var leases = map[string]string{"lease": "Lease", "lease.broken-token": "Lease: a late result shows no token"}

// loadExamples returns the examples as JSON. They are embedded in the program, so that an error would
// be a mistake of the build.
func loadExamples() ([]byte, error) {
	var all []example
	for _, e := range embedded {
		one, err := readExample(e.file, e.title)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		all = append(all, one)
	}
	models, err := protocols.All()
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if title := leases[m.Name]; title != "" {
			all = append(all, newExample(title, m.Source))
		}
	}
	return json.Marshal(all)
}

// readExample reads a file of embedded.
func readExample(file, title string) (example, error) {
	if name, ok := strings.CutPrefix(file, "original/"); ok {
		initialisation, program, err := original.Read(name)
		return example{title, initialisation, program}, err
	}
	src, err := files.ReadFile("examples/" + file + ".tup")
	return newExample(title, string(src)), err
}

// newExample splits a file at the first separator.
func newExample(title, src string) example {
	init, program, _ := strings.Cut(src, "\n---\n")
	return example{title, init, program}
}
