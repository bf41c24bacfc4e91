package clips

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"leasehold/shared/fault"
)

// parseYAML returns the top node of a document, nil and no error for an empty one.
func parseYAML(content []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("not YAML: %w: %w", errors.New(sanitize(strings.TrimPrefix(err.Error(), "yaml: "))), fault.ErrInvalid)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// eachKey calls set for each key of a mapping, in the order of the document, and ends with its first error. It
// refuses unknown and repeated keys, and values other than scalars, with the line and the key.
func eachKey(m *yaml.Node, accepted []string, set func(key string, value *yaml.Node) error) error {
	all := strings.Join(accepted, ", ")
	if m.Kind != yaml.MappingNode {
		return invalidAt(m, "want keys and values: %s are accepted", all)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name := key.Value
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(accepted, name):
			return invalidAt(key, "unknown key %q: %s are accepted", sanitize(name), all)
		case seen[name]:
			return invalidAt(key, "key %q comes twice", name)
		case value.Kind != yaml.ScalarNode:
			return invalidAt(value, "%s wants a plain value", name)
		}
		seen[name] = true
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}

func wholeNumber(key string, value *yaml.Node) (*int64, error) {
	var n int64
	if err := value.Decode(&n); err != nil || value.Tag != "!!int" {
		return nil, invalidAt(value, "%s %q is not a whole number", key, sanitize(value.Value))
	}
	return &n, nil
}
