package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"leasehold/shared/process/wording"
)

const (
	fileName = "leasehold.yaml"
	// maxFileBytes is far more than all settings need with a page of comments each.
	maxFileBytes = 1 << 20
)

// An entry is a setting in the file.
type entry struct {
	text   string
	source string // FILE:LINE
}

// findFile returns the file to read: named if it is not empty, else the first file that
// exists, else none.
func findFile(named string) string {
	if named != "" {
		return named
	}
	places := []string{fileName}
	if dir, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(dir, "leasehold", fileName))
	}
	for _, p := range places {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	return ""
}

// readFile reads the settings of one file by key, and returns all its faults; the settings
// without faults are returned too. An empty file has no settings and no faults. A file that
// cannot be read, or is not YAML, is one fault.
func readFile(name string) (map[string]entry, Invalid) {
	data, err := readBounded(name)
	if err != nil {
		return nil, Invalid{{Key: fileFlag, Text: err.Error()}}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, Invalid{{Key: fileFlag, Source: name, Text: err.Error()}}
	}
	if len(doc.Content) == 0 { // empty, or comments only
		return nil, nil
	}
	root := doc.Content[0]
	if root.Tag == "!!null" { // an explicit null
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, Invalid{{Key: fileFlag, Source: at(name, root), Text: "want a list of settings, one `key: value` on each line"}}
	}
	entries := make(map[string]entry)
	var wrong Invalid
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		if f := addEntry(entries, name, key, val); f != nil {
			wrong = append(wrong, *f)
		}
	}
	return entries, wrong
}

// addEntry adds a setting of the file to entries. It returns a fault for an unknown key, a repeated key, and a
// value of another type than text.
func addEntry(entries map[string]entry, name string, key, val *yaml.Node) *Fault {
	source := at(name, key)
	s, ok := settingByKey(key.Value)
	if !ok {
		return &Fault{Key: key.Value, Source: source, Text: fmt.Sprintf("unknown key %q%s; use one of %s",
			key.Value, wording.DidYouMean(key.Value, Keys()), wording.Or(Keys()...))}
	}
	if first, twice := entries[s.key]; twice {
		return &Fault{Key: s.key, Source: source, Text: fmt.Sprintf("%s is set twice; first at %s", s.key, first.source)}
	}
	text, ok := scalar(val, s)
	if !ok {
		return &Fault{Key: s.key, Source: source, Text: fmt.Sprintf("%s must be %s", s.key, s.accepts())}
	}
	entries[s.key] = entry{text: text, source: source}
	return nil
}

// scalar returns the text of a plain value or, if the setting is a list of hosts, of a list of
// plain values, joined by commas. ok is false if the node is neither.
func scalar(n *yaml.Node, s setting) (text string, ok bool) {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value, true
	}
	if _, list := s.field(new(Config)).(hosts); !list || n.Kind != yaml.SequenceNode {
		return "", false
	}
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return "", false
		}
		if i > 0 {
			text += ","
		}
		text += item.Value
	}
	return text, true
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: larger than %s", name, shortSize(maxFileBytes))
	}
	return data, nil
}

func at(name string, n *yaml.Node) string { return fmt.Sprintf("%s:%d", name, n.Line) }
