package api

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
)

// yamlText is an answer in YAML already.
type yamlText []byte

const (
	yamlType  = "application/yaml"
	linesType = "application/x-ndjson" // one JSON object on each line
)

// serveDocument returns the handler of a document.
func serveDocument(d Document) func(context.Context, *request) (yamlText, error) {
	return func(context.Context, *request) (yamlText, error) {
		return OpenAPI(d)
	}
}

// A Document is one of the two descriptions of the API.
type Document int

// Documents.
const (
	WholeDocument Document = iota // every route; those that only managers and workers call have x-internal
	UsersDocument                 // the routes for users and programs
)

// tags are the groups of routes: the four jobs and the system. Each has a sentence.
var tags = []object{
	{"name": "clips", "description": "Find where known clips are played in episodes: recordings, findings and problems."},
	{"name": "code", "description": "Search the files of git repositories."},
	{"name": "visits", "description": "Decide when each origin is visited again, and report visits and changes."},
	{"name": "tasks", "description": "Create, claim and end tasks; see actions, limits, schedules and dead letters."},
	{"name": "system", "description": "Use tuple spaces, and see the coordinator, its sessions and its health."},
}

// OpenAPI returns an OpenAPI document, generated from the declarations of the routes and
// from the types of their bodies.
func OpenAPI(d Document) ([]byte, error) {
	routes := newServer(Config{}).routes()
	if d == UsersDocument {
		routes = slices.DeleteFunc(routes, route.isForManagers)
	}
	answers := newGenerator()
	bodies := answers.forBodies()
	examples, err := bodyExamples()
	if err != nil {
		return nil, err
	}
	problem := object{"description": "an error", "content": object{"application/problem+json": object{"schema": answers.schema(reflect.TypeFor[types.Problem]())}}}
	paths := map[string]map[string]operation{}
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = map[string]operation{}
		}
		paths[r.path][strings.ToLower(r.method)] = answers.operation(r)
	}
	for _, r := range routes { // after all answers, so that the names of their schemas are known
		o := paths[r.path][strings.ToLower(r.method)]
		o.RequestBody = bodies.requestBody(r, examples)
		paths[r.path][strings.ToLower(r.method)] = o
	}
	addHealth(paths)
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err = e.Encode(document{
		OpenAPI: "3.1.0",
		Info: object{"title": "Leasehold", "version": "v1", "description": fmt.Sprintf(
			"The coordinator's HTTP API. Errors are problem documents (RFC 9457). Bodies are limited to %d bytes unless stated otherwise; unknown fields and parameters are errors. A coordinator that authenticates is at https and needs the header Authorization: Bearer TOKEN; x-roles lists the roles that may call an operation.", maxBody)},
		Servers:    []object{{"url": fmt.Sprintf("http://127.0.0.1:%d", config.HTTPPort)}},
		Tags:       tags,
		Paths:      paths,
		Security:   []object{{}, {"token": []string{}}}, // none on loopback
		Components: object{"responses": object{"Problem": problem}, "schemas": answers.schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	})
	return []byte(b.String()), err
}

// addHealth adds the routes that are outside of the table.
func addHealth(paths map[string]map[string]operation) {
	for _, r := range []struct{ path, id, summary string }{
		{"/healthz", "getHealth", "Respond while the process can respond."},
		{"/readyz", "getReadiness", "Respond with 200 if the spaces and the catalog respond, with 503 if not."},
		{"/metrics", "getMetrics", "Return the metrics in the text format of Prometheus."},
	} {
		paths[r.path] = map[string]operation{"get": {ID: r.id, Tags: []string{"system"}, Summary: r.summary, Responses: object{"200": content("text/plain", nil)}}}
	}
}

type object map[string]any

type document struct {
	OpenAPI    string `yaml:"openapi"`
	Info       object
	Servers    []object
	Security   []object
	Tags       []object
	Paths      map[string]map[string]operation
	Components object
}

type operation struct {
	ID          string `yaml:"operationId"`
	Tags        []string
	Summary     string
	Description string   `yaml:",omitempty"`
	Internal    bool     `yaml:"x-internal,omitempty"` // only managers and workers call it
	Roles       []string `yaml:"x-roles,omitempty"`    // with auth, any one of them is needed; none: every client may
	Parameters  []object `yaml:",omitempty"`
	RequestBody object   `yaml:"requestBody,omitempty"`
	Responses   object
}

// operation describes a route without its body, and adds the schemas of its answers.
func (g *generator) operation(r route) operation {
	o := operation{ID: r.id, Tags: []string{r.tag}, Summary: r.summary, Internal: r.isForManagers(), Roles: roles[r.id].Names(),
		Responses: object{"default": object{"$ref": "#/components/responses/Problem"}}}
	for _, p := range r.params {
		o.Parameters = append(o.Parameters, p.describe())
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
	if links := r.describeLinks(); links != nil {
		success["links"] = links
	}
	for _, status := range r.statuses {
		o.Responses[strconv.Itoa(status)] = success
	}
	return o
}

// requestBody describes the body of a route, with an example, and adds its schemas; nil: it has none.
func (g *generator) requestBody(r route, examples map[reflect.Type]any) object {
	if r.body == nil {
		return nil
	}
	media := object{"schema": g.schema(r.body)}
	if example, ok := examples[r.body]; ok {
		media["example"] = example
	}
	media = object{"application/json": media}
	if r.isOctets {
		media[types.OctetType] = object{}
	}
	return object{"required": !allOptional(r.body), "content": media}
}

// describeLinks returns the links from an answer to the routes that take its id; nil: there are none.
func (r route) describeLinks() object {
	if len(r.links) == 0 {
		return nil
	}
	links := object{}
	for _, l := range r.links {
		links[l.operation] = object{"operationId": l.operation, "parameters": object{l.param: "$response.body#/" + l.field}}
	}
	return links
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
	s := object{"type": [...]string{textParam: "string", idParam: "string", numberParam: "integer", flagParam: "boolean", timeParam: "string"}[p.kind]}
	switch p.kind {
	case numberParam:
		s["minimum"], s["maximum"] = p.min, p.max
	case timeParam:
		s["format"] = "date-time"
	case idParam:
		s["pattern"] = models.IDPattern
	}
	constrain(s, p.schema)
	if p.absent != nil {
		s["default"] = p.absent
	}
	described := object{"name": p.name, "in": "query", "schema": s}
	if p.in != "" {
		described["in"] = p.in
	}
	if p.in == "path" || p.required {
		described["required"] = true
	}
	if p.doc != "" {
		described["description"] = p.doc
	}
	return described
}
