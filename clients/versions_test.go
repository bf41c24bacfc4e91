package clients

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The file has the requests that a coordinator of the first version understands: by operation, the names of parameters,
// and of fields of the body with those around them.
const firstVersion = "testdata/v0.1.0/requests.yaml"

// requests are those of a client, by operation as in firstVersion. Requests may be noted concurrently.
type requests struct {
	mu  sync.Mutex // guards the field below
	all map[string]map[string]bool
}

// usersOwn are fields whose values have fields that a user names.
var usersOwn = []string{"data", "result", "serves"}

// note records a request that was accepted.
func (q *requests) note(r *http.Request, body string) {
	names := map[string]bool{}
	for name := range r.URL.Query() {
		names["?"+name] = true
	}
	if body != "" {
		addFields(names, "", parse([]byte(body)))
	}
	operation := r.Method + " " + r.URL.Path
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all[operation] == nil {
		q.all[operation] = map[string]bool{}
	}
	maps.Copy(q.all[operation], names)
}

// addFields adds the fields of a value that are not the user's own. Objects of a list have the same fields.
func addFields(names map[string]bool, at string, value any) {
	switch value := value.(type) {
	case []any:
		for _, x := range value {
			addFields(names, at, x)
		}
	case map[string]any:
		for name, x := range value {
			names[at+name] = true
			if !slices.Contains(usersOwn, name) {
				addFields(names, at+name+".", x)
			}
		}
	}
}

// requireUnderstood requires that a coordinator of the first version understands all requests: otherwise a newer client
// does not work with an older coordinator, which refuses fields that it does not know.
func (q *requests) requireUnderstood(t *testing.T) {
	t.Helper()
	first := readFirstVersion(t)
	q.mu.Lock()
	defer q.mu.Unlock()
	if *caseFlag == "" { // a single case may send none
		require.NotEmpty(t, q.all)
	}
	for request, names := range q.all {
		operation := slices.IndexFunc(first, func(o operation) bool { return o.matches(request) })
		if operation < 0 {
			t.Errorf("%s is not in %s", request, firstVersion)
			continue
		}
		for name := range names {
			if !slices.Contains(first[operation].Names, name) {
				t.Errorf("%s sends %s, which is not in %s", request, name, firstVersion)
			}
		}
	}
}

// An operation is of the API: its path has names in braces.
type operation struct {
	Request string
	Names   []string
}

// matches reports whether a method and a path are of the operation.
func (o operation) matches(request string) bool {
	mine, its := strings.Split(o.Request, "/"), strings.Split(request, "/")
	return slices.EqualFunc(mine, its, func(m, i string) bool { return m == i || strings.HasPrefix(m, "{") })
}

func readFirstVersion(t *testing.T) (all []operation) {
	t.Helper()
	text, err := os.ReadFile(firstVersion)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &all))
	return all
}

// What clients of the first version send is accepted: an older client works with a newer coordinator.
func TestTheRequestsOfTheFirstVersionAreDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/openapi.yaml")
	require.NoError(t, err)
	var api description
	require.NoError(t, yaml.Unmarshal(text, &api))
	for _, o := range readFirstVersion(t) {
		method, path, _ := strings.Cut(o.Request, " ")
		described, ok := api.Paths[path][strings.ToLower(method)]
		require.True(t, ok, o.Request)
		names := map[string]bool{}
		for _, p := range described.Parameters {
			names["?"+p.Name] = p.In == "query"
		}
		api.addFields(names, "", described.Body.Content["application/json"].Schema)
		for _, name := range o.Names {
			require.True(t, names[name], "%s: %s of %v", o.Request, name, slices.Sorted(maps.Keys(names)))
		}
	}
}

// description is what the test reads of the description of the API.
type description struct {
	Paths map[string]map[string]struct {
		Parameters []struct{ Name, In string }
		Body       struct {
			Content map[string]struct{ Schema schema }
		} `yaml:"requestBody"`
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref                 string `yaml:"$ref"`
	Properties          map[string]schema
	Items               *schema
	AllOf, OneOf, AnyOf []schema
}

// addFields adds the fields that a schema describes, as addFields does those of a value.
func (d description) addFields(names map[string]bool, at string, s schema) {
	if strings.Count(at, ".") > 4 { // a schema may have itself
		return
	}
	if s.Ref != "" {
		d.addFields(names, at, d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]])
	}
	for name, p := range s.Properties {
		names[at+name] = true
		if !slices.Contains(usersOwn, name) {
			d.addFields(names, at+name+".", p)
		}
	}
	if s.Items != nil {
		d.addFields(names, at, *s.Items)
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		d.addFields(names, at, part)
	}
}

// ofLaterVersion returns an answer as of a later version: each object that is not the user's own has another field, which
// is a number in one that only counts.
func ofLaterVersion(body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return body // not JSON
	}
	addLaterFields(value)
	changed, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was JSON
	}
	return changed
}

func addLaterFields(value any) {
	switch value := value.(type) {
	case []any:
		for _, x := range value {
			addLaterFields(x)
		}
	case map[string]any:
		counts := len(value) > 0
		for name, x := range value {
			_, number := x.(json.Number)
			counts = counts && number
			if !slices.Contains(usersOwn, name) {
				addLaterFields(x)
			}
		}
		value["of_a_later_version"] = map[string]any{"list": []any{1, "two", nil}}
		if counts {
			value["of_a_later_version"] = 1
		}
	}
}
