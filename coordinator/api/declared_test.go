package api_test

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/coordinator/api"
)

type object = map[string]any

// declaration is the OpenAPI document, against which the fixture checks responses.
type declaration struct {
	Paths      map[string]map[string]struct{ Responses object }
	Components struct{ Schemas map[string]object }
	mux        *http.ServeMux // finds the path of a request
}

var readDeclaration = sync.OnceValues(func() (d declaration, err error) {
	text, err := api.OpenAPI(api.WholeDocument)
	if err != nil {
		return d, err
	}
	d.mux = http.NewServeMux()
	err = yaml.Unmarshal(text, &d)
	for path, operations := range d.Paths {
		for method := range operations {
			d.mux.Handle(strings.ToUpper(method)+" "+path, http.NotFoundHandler())
		}
	}
	return d, err
})

func declared(t *testing.T) declaration {
	t.Helper()
	d, err := readDeclaration()
	require.NoError(t, err)
	return d
}

// check fails the test if a response has a status or a field that its route does not
// declare, or if it lacks a required field.
func (d declaration) check(t *testing.T, r *http.Request, status int, answer any) {
	t.Helper()
	_, pattern := d.mux.Handler(r)
	method, path, _ := strings.Cut(pattern, " ")
	response, ok := d.Paths[path][strings.ToLower(method)].Responses[strconv.Itoa(status)]
	require.True(t, ok, "%s does not declare status %d", pattern, status)
	content, ok := response.(object)["content"].(object)
	if !ok {
		require.Nil(t, answer, pattern)
		return
	}
	d.checkSchema(t, pattern, content["application/json"].(object)["schema"].(object), answer)
}

func (d declaration) checkSchema(t *testing.T, where string, schema object, value any) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
	}
	switch value := value.(type) {
	case object:
		properties, ok := schema["properties"].(object)
		if !ok { // any JSON, or a map
			return
		}
		for name, v := range value {
			require.Contains(t, properties, name, where)
			d.checkSchema(t, where+" "+name, properties[name].(object), v)
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			require.Contains(t, value, name, where)
		}
	case []any:
		if items, ok := schema["items"].(object); ok {
			for _, v := range value {
				d.checkSchema(t, where, items, v)
			}
		}
	default:
		wanted, isList := schema["type"].([]any)
		if !isList {
			wanted = []any{schema["type"]}
		}
		if wanted[0] == nil || value == nil && wanted[0] == "array" { // any JSON; a double's list
			return
		}
		types := map[reflect.Type][]any{reflect.TypeFor[string](): {"string"}, reflect.TypeFor[bool](): {"boolean"}, reflect.TypeFor[float64](): {"integer", "number"}, nil: {"null"}}
		isDeclared := func(kind any) bool { return slices.Contains(wanted, kind) }
		require.True(t, slices.ContainsFunc(types[reflect.TypeOf(value)], isDeclared), "%s: %v is of none of the types %v", where, value, wanted)
	}
}
