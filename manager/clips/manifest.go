package clips

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"leasehold/models"
	"leasehold/shared/fault"
)

// readManifest reads the origins that a file lists, such as
//
//   - kind: feed
//     uri: https://example.org/show.xml
//   - path: clips
//     priority: 5
//     every: 24h
//     hours: 22:00-06:00@Europe/Berlin
//   - uri: https://example.org/code.git
//     branches: main, release-*
//     tags: v*
//
// Paths are relative to the file's folder. A missing kind is detected. Other manifests are not followed.
func readManifest(path string) ([]models.Origin, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	dir := filepath.Dir(path)
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	defer root.Close()
	content, err := readSmall(root, filepath.Base(real), manifestBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, err, fault.ErrInvalid)
	}
	entries, err := parseManifest(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var origins []models.Origin
	for _, e := range entries {
		o, err := e.origin(dir)
		if err == nil && slices.ContainsFunc(origins, func(x models.Origin) bool { return x.ID == o.ID }) {
			err = fmt.Errorf("%s is listed twice: %w", o.URI, fault.ErrInvalid)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, e.line, err)
		}
		origins = append(origins, o)
	}
	return origins, nil
}

// An entry is one origin of a manifest.
type entry struct {
	line     int
	kind     models.OriginKind // "" to detect it
	uri      string            // a URL, or a path
	priority int64
	every    *models.Seconds
	hours    *models.Hours
	branches []string // that are indexed of a repository
	tags     []string // beside them
}

// origin detects the origin of an entry; dir is the folder of the manifest.
func (e entry) origin(dir string) (models.Origin, error) {
	uri := e.uri
	if !strings.Contains(uri, "://") && !filepath.IsAbs(uri) {
		uri = filepath.Join(dir, uri)
	}
	found, err := detect(uri, e.kind, !withManifests)
	if err != nil {
		return models.Origin{}, fmt.Errorf("%s: %w", uri, err)
	}
	o := found[0]
	o.Priority, o.Every, o.Hours, o.Branches, o.Tags = e.priority, e.every, e.hours, e.branches, e.tags
	if problem := o.CheckRefs(); problem != "" {
		return models.Origin{}, fmt.Errorf("%s: %w: %s", uri, fault.ErrInvalid, problem)
	}
	return o, nil
}

func parseManifest(content []byte) ([]entry, error) {
	top, err := parseYAML(content)
	if err != nil {
		return nil, err
	}
	if top == nil || top.Kind == yaml.SequenceNode && len(top.Content) == 0 {
		return nil, fmt.Errorf("it lists no origins: %w", fault.ErrInvalid)
	}
	if top.Kind != yaml.SequenceNode {
		return nil, invalidAt(top, "want a list of origins, each with kind, uri or path, priority, every, hours, branches and tags")
	}
	var entries []entry
	for _, node := range top.Content {
		e, err := parseEntry(node)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry parses one entry, which must have either uri or path. Errors name the line.
func parseEntry(node *yaml.Node) (entry, error) {
	e := entry{line: node.Line}
	err := eachKey(node, []string{"kind", "uri", "path", "priority", "every", "hours", "branches", "tags"}, func(key string, value *yaml.Node) error {
		switch key {
		case "kind":
			e.kind = models.OriginKind(value.Value)
			if e.kind.Info().Flow == "" {
				return invalidAt(value, "kind %q: %s are accepted", sanitize(value.Value), kindNames())
			}
		case "uri", "path":
			if e.uri != "" {
				return invalidAt(value, "uri and path are one: give either")
			}
			e.uri = value.Value
			if strings.TrimSpace(e.uri) == "" || !wellNamed(e.uri) {
				return invalidAt(value, "%s %q is empty or has control characters", key, sanitize(value.Value))
			}
			if key == "path" && strings.Contains(e.uri, "://") {
				return invalidAt(value, "path %s is a URL: say uri", e.uri)
			}
		case "priority":
			n, err := wholeNumber(key, value)
			if err != nil {
				return err
			}
			e.priority = *n
		case "every":
			length, err := time.ParseDuration(value.Value)
			every := models.SecondsOf(length)
			if err != nil || !models.ValidEvery(every) {
				return invalidAt(value, "every %q: %s", sanitize(value.Value), models.EveryRule)
			}
			e.every = &every
		case "hours":
			hours := models.Hours(value.Value)
			if _, err := models.ParseHours(hours); err != nil {
				return invalidAt(value, "%s", sanitize(err.Error()))
			}
			e.hours = &hours
		case "branches", "tags":
			var names []string
			for name := range strings.SplitSeq(value.Value, ",") {
				names = append(names, strings.TrimSpace(name))
			}
			if !models.ValidBranches(names) {
				return invalidAt(value, "%s %q: %s, separated by commas", key, sanitize(value.Value), models.BranchRule)
			}
			if key == "tags" {
				e.tags = names
			} else {
				e.branches = names
			}
		}
		return nil
	})
	if err == nil && e.uri == "" {
		err = invalidAt(node, "an origin needs uri or path")
	}
	return e, err
}
