package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// document is what of openapi.yaml the handlers are held against.
type document struct {
	OpenAPI    string                          `yaml:"openapi"`
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		Schemas    map[string]schema    `yaml:"schemas"`
		Parameters map[string]parameter `yaml:"parameters"`
	} `yaml:"components"`
}

type operation struct {
	Summary    string      `yaml:"summary"`
	Parameters []parameter `yaml:"parameters"`
	Body       *struct {
		Content map[string]struct {
			Schema schema `yaml:"schema"`
		} `yaml:"content"`
	} `yaml:"requestBody"`
	Responses map[string]any `yaml:"responses"`
}

type parameter struct {
	Ref  string `yaml:"$ref"`
	Name string `yaml:"name"`
	In   string `yaml:"in"`
}

type schema struct {
	Ref        string            `yaml:"$ref"`
	Type       string            `yaml:"type"`
	Enum       []string          `yaml:"enum"`
	Required   []string          `yaml:"required"`
	AllOf      []schema          `yaml:"allOf"`
	Properties map[string]schema `yaml:"properties"`
}

func readDocument(t *testing.T) document {
	t.Helper()
	var d document
	require.NoError(t, yaml.Unmarshal(openAPI, &d))
	require.Equal(t, "3.1.0", d.OpenAPI)
	return d
}

func TestTheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	var documented, served []string
	for path, operations := range readDocument(t).Paths {
		for method := range operations {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	for _, r := range newServer(Config{}).routes() {
		served = append(served, r.method+" "+r.path)
	}
	served = append(served, "GET /healthz", "GET /readyz", "GET /metrics")
	slices.Sort(documented)
	slices.Sort(served)
	require.Equal(t, served, documented)
}

func TestEachOperationSaysWhatItTakesAndAnswers(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for path, operations := range d.Paths {
		for method, o := range operations {
			where := method + " " + path
			require.NotEmpty(t, o.Summary, where)
			require.NotEmpty(t, o.Responses, where)
			if strings.HasPrefix(path, "/api/") {
				require.Contains(t, o.Responses, "default", "%s: errors", where)
			}
			var inPath []string
			for _, p := range o.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					require.Contains(t, d.Components.Parameters, name, where)
					p = d.Components.Parameters[name]
				}
				if p.In == "path" {
					inPath = append(inPath, "{"+p.Name+"}")
				}
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					require.Contains(t, inPath, part, where)
				}
			}
			if takes := method == "put" || method == "patch" || method == "post" && !strings.HasSuffix(path, "/requeue") && !strings.HasSuffix(path, "/drain"); takes {
				require.NotNil(t, o.Body, where)
				ref := o.Body.Content["application/json"].Schema.Ref
				name := strings.TrimPrefix(ref, "#/components/schemas/")
				require.Contains(t, d.Components.Schemas, name, where)
			}
		}
	}
}

// documents are the types behind the schemas.
var documents = map[string]any{
	"Problem": apitypes.Problem{}, "Origin": models.Origin{}, "NewOrigin": apitypes.NewOrigin{}, "Priority": apitypes.Priority{},
	"Visit": apitypes.Visit{}, "Episode": models.Episode{}, "Clip": models.Clip{}, "MediaRef": models.MediaRef{},
	"NewRecordings": apitypes.NewRecordings{}, "NewRecording": apitypes.NewRecording{}, "CuratedItems": apitypes.CuratedItems{},
	"Finding": catalog.Finding{}, "InputProblem": catalog.Problem{}, "Totals": catalog.Totals{},
	"Session": apitypes.Session{}, "Served": apitypes.Served{}, "Cost": models.Cost{}, "Space": apitypes.Space{}, "Tuple": apitypes.Tuple{}, "Field": apitypes.Field{},
	"Wanted": apitypes.Lookup{}, "NewTuple": apitypes.NewTuple{}, "NewVisit": apitypes.NewVisit{},
	"Task": apitypes.Task{}, "NewTask": apitypes.NewTask{}, "Requeued": apitypes.Requeued{},
	"Listing": apitypes.Listing{}, "Curated": catalog.Curated{}, "Selection": apitypes.Selection{}, "Selected": apitypes.Selected{},
	"Pairs": catalog.Busy{}, "Ingestion": apitypes.Ingestion{}, "Added": apitypes.Added{}, "Outcome": models.Outcome{}, "Backup": apitypes.Backup{},
	"NextVisit": apitypes.NextVisit{}, "Schedule": apitypes.Schedule{}, "PastVisit": apitypes.PastVisit{}, "Steering": apitypes.Steering{}, "Recorded": apitypes.Recorded{},
	"Listed": models.Listed{}, "ListedOrigin": models.ListedOrigin{},
}

func TestEachSchemaHasTheFieldsOfItsType(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for name, v := range documents {
		s, ok := d.Components.Schemas[name]
		require.True(t, ok, "no schema %s", name)
		want := fieldNames(reflect.TypeOf(v))
		slices.Sort(want)
		require.Equal(t, want, slices.Sorted(maps.Keys(s.Properties)), "schema %s", name)
		for _, r := range s.Required {
			require.Contains(t, s.Properties, r, name)
		}
	}
	for name := range d.Components.Schemas {
		require.Contains(t, documents, name, "schema %s stands for no type", name)
	}
}

// fieldNames lists the names that a struct has in JSON.
func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range fields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, fieldNames(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func TestTheDocumentListsTheCodesOfErrors(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, row := range fault.Table {
		codes = append(codes, row.Code)
	}
	require.ElementsMatch(t, codes, readDocument(t).Components.Schemas["Problem"].Properties["code"].Enum)
}

func TestARouteHasItsBounds(t *testing.T) {
	t.Parallel()
	require.Less(t, MaxWait, callTimeout, "a wait ends before its request")
	require.Less(t, callTimeout, bulkTimeout)
	require.LessOrEqual(t, maxListings, MaxInFlight)
	require.Positive(t, time.Duration(headerTimeout))
	for _, r := range newServer(Config{}).routes() {
		require.Equal(t, r.bulk, r.method == http.MethodPost && (strings.HasSuffix(r.path, "/curate") || strings.HasSuffix(r.path, "/select") || strings.HasSuffix(r.path, "/backups")), r.path)
	}
}
