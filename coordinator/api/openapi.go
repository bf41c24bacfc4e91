package api

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// yamlText is an answer in YAML already.
type yamlText []byte

const (
	yamlType  = "application/yaml"
	linesType = "application/x-ndjson" // one JSON object on each line
)

func (s *server) getOpenAPI(context.Context, *request) (yamlText, error) {
	return OpenAPI()
}

// OpenAPI returns the OpenAPI document, generated from the declarations of the routes and
// from the types of their bodies.
func OpenAPI() ([]byte, error) {
	g := generator{schemas: object{}, types: map[string]reflect.Type{}}
	problem := object{"description": "an error", "content": object{"application/problem+json": object{"schema": g.schema(reflect.TypeFor[types.Problem]())}}}
	paths := map[string]map[string]operation{}
	for _, r := range newServer(Config{}).routes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]operation{}
		}
		paths[r.path][strings.ToLower(r.method)] = g.operation(r)
	}
	for path, summary := range map[string]string{
		"/healthz": "Respond while the process can respond.",
		"/readyz":  "Respond with 200 if the spaces and the catalog respond, with 503 if not.",
		"/metrics": "Return the metrics in the text format of Prometheus.",
	} {
		paths[path] = map[string]operation{"get": {Summary: summary, Responses: object{"200": content("text/plain", nil)}}}
	}
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(document{
		OpenAPI: "3.1.0",
		Info: object{"title": "Leasehold", "version": "v1", "description": fmt.Sprintf(
			"The coordinator's HTTP API. Errors are problem documents (RFC 9457). Bodies are limited to %d bytes unless stated otherwise; unknown fields and parameters are errors. There is no authentication yet: listen on loopback.", maxBody)},
		Servers:    []object{{"url": fmt.Sprintf("http://127.0.0.1:%d", config.HTTPPort)}},
		Paths:      paths,
		Components: object{"responses": object{"Problem": problem}, "schemas": g.schemas},
	})
	return []byte(b.String()), err
}

type object map[string]any

type document struct {
	OpenAPI    string `yaml:"openapi"`
	Info       object
	Servers    []object
	Paths      map[string]map[string]operation
	Components object
}

type operation struct {
	Summary     string
	Description string   `yaml:",omitempty"`
	Parameters  []object `yaml:",omitempty"`
	RequestBody object   `yaml:"requestBody,omitempty"`
	Responses   object
}

// A generator collects the schemas of the types that operations use.
type generator struct {
	schemas object                  // by name
	types   map[string]reflect.Type // that have these names
}

// operation describes a route, and adds the schemas of its bodies.
func (g generator) operation(r route) operation {
	o := operation{Summary: r.summary, Responses: object{"default": object{"$ref": "#/components/responses/Problem"}}}
	for _, p := range r.params {
		o.Parameters = append(o.Parameters, p.describe())
	}
	if r.body != nil {
		o.RequestBody = content("application/json", g.schema(r.body))
		o.RequestBody["required"] = !allOptional(r.body)
		delete(o.RequestBody, "description") // content describes an answer
	}
	if r.isBulk {
		o.Description = fmt.Sprintf("The body is limited to %d bytes, the time to %v seconds.", maxListing, bulkTimeout.Seconds())
	}
	success := object{"description": "success"}
	if r.answer == reflect.TypeFor[yamlText]() {
		success = content(yamlType, nil)
	} else if r.isStream {
		success = content(linesType, g.schema(r.answer))
	} else if r.answer != nil {
		success = content("application/json", g.schema(r.answer))
	}
	for _, status := range r.statuses {
		o.Responses[strconv.Itoa(status)] = success
	}
	return o
}

// content returns a response or a body of a media type. A nil schema describes text.
func content(mediaType string, schema object) object {
	body := object{}
	if schema != nil {
		body["schema"] = schema
	}
	return object{"description": "success", "content": object{mediaType: body}}
}

// describe returns the description of a parameter, which is in the query unless p.in says another
// place.
func (p param) describe() object {
	schema := object{"type": [...]string{textParam: "string", idParam: "string", numberParam: "integer", flagParam: "boolean"}[p.kind]}
	if p.kind == numberParam {
		schema["minimum"], schema["maximum"] = 0, p.max
	}
	if p.absent != nil {
		schema["default"] = p.absent
	}
	described := object{"name": p.name, "in": "query", "schema": schema}
	if p.in != "" {
		described["in"], described["required"] = p.in, p.in == "path"
	}
	if p.doc != "" {
		described["description"] = p.doc
	}
	return described
}

// enums are the values of string types.
var enums = map[reflect.Type]func() []string{
	reflect.TypeFor[types.ErrorCode](): func() (codes []string) {
		for _, row := range fault.Table {
			codes = append(codes, row.Code)
		}
		return codes
	},
}

// schema returns the schema of a type, which is a reference if the type is a struct with a name
// of its own. Any kind that has no case is an integer.
func (g generator) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		if strings.Contains(t.Name(), "[") { // a page
			return g.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + g.addSchema(t)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		if values := enums[t]; values != nil {
			return object{"type": "string", "enum": values()}
		}
		return object{"type": "string"}
	}
	return object{"type": "integer"}
}

// addSchema adds the schema of a struct, if it is missing, and returns its name. If another
// package has a type of the same name, the name has the package too.
func (g generator) addSchema(t reflect.Type) string {
	name := t.Name()
	if known := g.types[name]; known != nil && known != t {
		pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if g.types[name] == nil {
		g.types[name] = t
		g.schemas[name] = g.structure(t)
	}
	return name
}

// structure returns the schema of a struct with its fields.
func (g generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	g.addFields(t, properties, &required)
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// allOptional reports whether a struct has no required field.
func allOptional(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if embeds := f.Anonymous && name == ""; embeds && !allOptional(f.Type) || !embeds && !isOptional(options) {
			return false
		}
	}
	return true
}

// isOptional reports whether a field with these options of its JSON tag may be absent.
func isOptional(options string) bool { return strings.HasPrefix(options, "omit") }

// addFields adds the fields of a struct as encoding/json names them, and to required
// those that are never omitted.
func (g generator) addFields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			g.addFields(f.Type, properties, required)
			continue
		}
		s := g.schema(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		if values := f.Tag.Get("enum"); values != "" {
			s["enum"] = strings.Split(values, ",")
		}
		properties[name] = s
		if !isOptional(options) {
			*required = append(*required, name)
		}
	}
}
