package clips

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"leasehold/shared/fault"
)

// A sidecar is the content of the file beside a recording.
type sidecar struct {
	title    string
	priority *int64 // nil: the origin's
	aired    time.Time
}

// parseSidecar parses a sidecar. An empty file is the zero sidecar. Unknown keys and malformed
// values give fault.ErrInvalid with the line.
func parseSidecar(content []byte) (sidecar, error) {
	var s sidecar
	top, err := parseYAML(content)
	if err != nil || top == nil {
		return sidecar{}, err
	}
	err = eachKey(top, []string{"title", "priority", "aired"}, func(key string, value *yaml.Node) error {
		var err error
		switch key {
		case "title":
			s.title = sanitize(value.Value)
			if s.title == "" {
				err = invalidAt(value, "title is empty")
			}
		case "priority":
			s.priority, err = wholeNumber(key, value)
		case "aired":
			s.aired, err = date(value)
		}
		return err
	})
	if err != nil {
		return sidecar{}, err
	}
	return s, nil
}

// date returns the time of a value; a date alone is midnight in UTC. It accepts the years 1 to 9999.
func date(value *yaml.Node) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, value.Value); err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, invalidAt(value, "aired %q: want a date such as 2026-11-21 or 2026-11-21T06:00:00Z", sanitize(value.Value))
}

// invalidAt returns a fault.ErrInvalid with a line of a YAML file.
func invalidAt(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w: %w", at.Line, fmt.Errorf(format, args...), fault.ErrInvalid)
}
