package api

import (
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/shared/fault"
)

var update = flag.Bool("update", false, "write docs/openapi.yaml")

func readDocument(t *testing.T) (d struct {
	OpenAPI    string `yaml:"openapi"`
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]object }
}) {
	t.Helper()
	text, err := OpenAPI(WholeDocument)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &d))
	require.Equal(t, "3.1.0", d.OpenAPI)
	return d
}

func TestTheDocumentInDocsIsTheGeneratedOne(t *testing.T) {
	t.Parallel()
	for d, path := range map[Document]string{WholeDocument: "../../docs/openapi.yaml", UsersDocument: "../../docs/openapi-users.yaml"} {
		text, err := OpenAPI(d)
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(kept), string(text), "write it with: leasehold openapi >docs/openapi.yaml; leasehold openapi --users >docs/openapi-users.yaml")
	}
}

func TestTheDocumentHasEveryRoute(t *testing.T) {
	t.Parallel()
	paths := readDocument(t).Paths
	n := 3 // health and metrics
	for _, r := range newServer(Config{}).routes() {
		o, ok := paths[r.path][strings.ToLower(r.method)]
		require.True(t, ok, "%s %s", r.method, r.path)
		require.Equal(t, r.summary, o.Summary)
		n++
	}
	for path, operations := range paths {
		n -= len(operations)
		for method, o := range operations {
			require.NotEmpty(t, o.Summary, "%s %s", method, path)
		}
	}
	require.Zero(t, n)
}

func TestEachOperationDeclaresItsParametersItsBodyAndItsErrors(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	for path, operations := range document.Paths {
		for method, o := range operations {
			where := method + " " + path
			if strings.HasPrefix(path, "/api/") {
				require.Contains(t, o.Responses, "default", "%s: errors", where)
			}
			required := map[string]bool{}
			for _, p := range o.Parameters {
				required["{"+p["name"].(string)+"}"] = p["in"] == "path" && p["required"] == true
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					require.True(t, required[part], "%s: %s", where, part)
				}
			}
			bodiless := regexp.MustCompile("/(requeue|drain|pause|resume|changed|ack|back|dismiss|finish)$").MatchString(path) && // webhooks (changed) send bodies of any form
				!strings.Contains(path, "/bulk/") && !strings.HasSuffix(path, "/actions/{action}/pause")
			takes := method == "put" || method == "patch" || method == "post" && !bodiless
			require.Equal(t, takes, o.RequestBody != nil, where)
			references(o.RequestBody, func(ref string) {
				schema := document.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
				required := schema["required"] != nil || schema["minProperties"] != nil
				require.Equal(t, required, o.RequestBody["required"], "%s: an empty body is {} if that is valid", where)
			})
		}
	}
}

// references calls visit with each reference below a node of a document.
func references(node any, visit func(string)) {
	switch node := node.(type) {
	case object:
		for key, value := range node {
			if ref, ok := value.(string); ok && key == "$ref" {
				visit(ref)
			}
			references(value, visit)
		}
	case []any:
		for _, value := range node {
			references(value, visit)
		}
	}
}

func TestEachReferenceOfTheDocumentNamesASchemaAndEachSchemaIsReferenced(t *testing.T) {
	t.Parallel()
	text, err := OpenAPI(WholeDocument)
	require.NoError(t, err)
	var all object
	require.NoError(t, yaml.Unmarshal(text, &all))
	schemas, used := readDocument(t).Components.Schemas, map[string]bool{}
	references(all, func(ref string) {
		name, ok := strings.CutPrefix(ref, "#/components/schemas/")
		if ok {
			require.Contains(t, schemas, name)
			used[name] = true
		} else {
			require.Equal(t, "#/components/responses/Problem", ref)
		}
	})
	require.Len(t, used, len(schemas))
}

func TestTheDocumentListsTheCodesOfErrors(t *testing.T) {
	t.Parallel()
	var codes []any
	for _, row := range fault.Table {
		codes = append(codes, row.Code)
	}
	code := readDocument(t).Components.Schemas["Problem"]["properties"].(object)["code"].(object)
	require.ElementsMatch(t, codes, code["enum"])
}

func TestEveryRouteHasItsLimits(t *testing.T) {
	t.Parallel()
	require.Less(t, maxWait, callTimeout, "a wait ends before its request")
	require.Less(t, callTimeout, bulkTimeout)
	require.LessOrEqual(t, maxListings, MaxInFlight)
	require.Positive(t, time.Duration(headerTimeout))
	for _, r := range newServer(Config{}).routes() {
		bulk := slices.Contains([]string{"curate", "select", "backups", "commit", "generations", "retry"}, r.path[strings.LastIndexByte(r.path, '/')+1:])
		require.Equal(t, r.isBulk, r.method == http.MethodPost && (bulk || strings.Contains(r.path, "/bulk/")), r.path)
	}
}

func TestEachOperationHasAnIDOfItsOwnAndATag(t *testing.T) {
	t.Parallel()
	known, ids := map[string]bool{}, map[string]bool{}
	for _, tag := range tags {
		known[tag["name"].(string)] = true
		require.NotEmpty(t, tag["description"])
	}
	for path, operations := range readDocument(t).Paths {
		for method, o := range operations {
			require.Regexp(t, "^[a-z]+[A-Z][A-Za-z]*$", o.ID, "%s %s: a verb and a noun", method, path)
			require.False(t, ids[o.ID], o.ID)
			ids[o.ID] = true
			require.Len(t, o.Tags, 1, o.ID)
			require.True(t, known[o.Tags[0]], o.ID)
		}
	}
}

func TestTheDocsOfClientsListEachOperation(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/clients.md")
	require.NoError(t, err)
	for _, operations := range readDocument(t).Paths {
		for _, o := range operations {
			if !o.Internal {
				require.Contains(t, string(docs), "`"+o.ID+"`", "docs/clients.md")
			}
		}
	}
}

func TestEachBodyHasAnExampleThatItsSchemaDescribes(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	for _, operations := range document.Paths {
		for _, o := range operations {
			if o.RequestBody == nil {
				continue
			}
			media := o.RequestBody["content"].(object)["application/json"].(object)
			example, ok := media["example"].(object)
			require.True(t, ok, o.ID)
			name := strings.TrimPrefix(media["schema"].(object)["$ref"].(string), "#/components/schemas/")
			schema := document.Components.Schemas[name]
			require.Equal(t, false, schema["additionalProperties"], "%s: a body has no other fields", name)
			for field := range example {
				require.Contains(t, schema["properties"], field, name)
			}
			required, _ := schema["required"].([]any)
			for _, field := range required {
				require.Contains(t, example, field, name)
			}
		}
	}
}

func TestALinkLeadsToAParameterOfAnOperation(t *testing.T) {
	t.Parallel()
	takes := map[string][]string{}
	routes := newServer(Config{}).routes()
	for _, r := range routes {
		for _, p := range r.params {
			takes[r.id] = append(takes[r.id], p.name)
		}
	}
	n := 0
	for _, r := range routes {
		for _, l := range r.links {
			require.Contains(t, takes[l.operation], l.param, r.id)
			n++
		}
	}
	require.Positive(t, n)
}

func TestTheUsersDocumentHasNoInternalRoute(t *testing.T) {
	t.Parallel()
	text, err := OpenAPI(UsersDocument)
	require.NoError(t, err)
	require.NotContains(t, string(text), "x-internal: true")
	require.NotContains(t, string(text), v1+"/catalog/")
	require.Contains(t, string(text), "operationId: createTask")
	for path, operations := range readDocument(t).Paths {
		for _, o := range operations {
			require.Equal(t, strings.HasPrefix(path, v1+"/catalog/") || strings.HasPrefix(path, v1+"/index/"), o.Internal, o.ID)
		}
	}
}

// TestTheSchemasFitTheNamesOfOtherLanguages: a schema must not be New… (constructors of generated Go clients), nor have
// a name that Python's typing has.
func TestTheSchemasFitTheNamesOfOtherLanguages(t *testing.T) {
	t.Parallel()
	schemas := readDocument(t).Components.Schemas
	require.Contains(t, schemas, "TaskCreation")
	for name := range schemas {
		require.False(t, strings.HasPrefix(name, "New"), name)
		require.NotContains(t, []string{"Tuple", "List", "Dict", "Any", "Optional", "Union"}, name)
	}
}
