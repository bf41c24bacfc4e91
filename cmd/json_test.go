package cmd

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/top"
	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/protocol/visit/simulate"
	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/petri"
)

// printed are the types behind the sections of docs/json.md.
var printed = map[string]any{
	"`leasehold findings --json`":                                      catalog.Finding{},
	"`leasehold findings --problems --json`":                           problemRow{},
	"`leasehold origin list --json`, `leasehold origin show --json`":   models.Origin{},
	"`leasehold episode list --json`, `leasehold episode show --json`": models.Episode{},
	"`leasehold clips list --json`, `leasehold clips show --json`":     models.Clip{},
	"A schedule in `leasehold origin show --json`":                     types.Schedule{},
	"A past visit in `leasehold origin show --json`":                   types.PastVisit{},
	"`leasehold visits next --json`":                                   nextVisitWithWhy{},
	"An expected change in `leasehold visits next --json`":             types.Expected{},
	"`leasehold visits capacity --json`":                               types.Capacity{},
	"A kind in `leasehold visits capacity --json`":                     types.KindCapacity{},
	"`leasehold visits replay --json`":                                 replayRow{},
	"`leasehold config show --json`":                                   config.Value{},
	"`leasehold config check --json`":                                  config.Fault{},
	"`leasehold clips match --json`":                                   matchRow{},
	"`leasehold clips bench --json`":                                   benchRow{},
	"`leasehold clips check --json`":                                   noticeRow{},
	"`leasehold doctor --json`":                                        examRow{},
	"`leasehold version --json`":                                       buildInfo{},
	"`leasehold status --json`":                                        client.Status{},
	"An attention item in `leasehold status --json`":                   models.Attention{},
	"A session in `leasehold status --json`":                           types.Session{},
	"A cost in `leasehold status --json`":                              models.Cost{},
	"`leasehold log --json`":                                           logRow{},
	"`leasehold tup4fun check --json`":                                 explore.Report{},
	"A verdict in `leasehold tup4fun check --json`":                    explore.Verdict{},
	"`leasehold tup4fun conform --json`":                               conform.Report{},
	"A violation in `leasehold tup4fun conform --json`":                conform.Violation{},
	"`leasehold tup4fun trace --format json`":                          explore.Trace{},
	"A step in `leasehold tup4fun trace --format json`":                explore.Step{},
	"`leasehold tup4fun petri --json`":                                 petri.Report{},
	"A finding in `leasehold tup4fun petri --json`":                    petri.Finding{},
	"`leasehold session list --json`":                                  types.OpenSession{},
	"`leasehold space list --json`":                                    types.Space{},
	"`leasehold invite --json`, `leasehold invites list --json`":       types.Invite{},
	"`leasehold peers list --json`":                                    types.Peer{},
	"`leasehold token create --json`, `leasehold token list --json`":   types.Token{},
	"`leasehold audit --json`":                                         types.AuditRecord{},
	"`leasehold space count --json`":                                   counted{},
	"`leasehold space query --json`, `leasehold space get --json`":     types.Tuple{},

	"`leasehold search --json`":                                                types.CodeMatch{},
	"`leasehold search --facets --json`":                                       types.CodeFacets{},
	"A symbol in `leasehold search --json`":                                    types.CodeSymbol{},
	"`leasehold symbols --json`":                                               symbolRow{},
	"`leasehold report --json`":                                                types.CodeReport{},
	"A function in `leasehold report --json`":                                  types.FunctionReport{},
	"A file in `leasehold report --json`, `leasehold report --skipped --json`": types.IndexedFile{},
	"A language in `leasehold report --json`":                                  types.LanguageReport{},

	"`leasehold visits simulate --json`": simulate.Result{},

	"`leasehold task list --json`, `leasehold task show --json`, `leasehold task wait --json`, `leasehold task create --json`, `leasehold dead list --json`, `leasehold dead show --json`, `leasehold dead export`": types.Task{},

	"`leasehold actions --json`": types.Action{},

	"`leasehold top --json`":             top.Data{},
	"A caller in `leasehold top --json`": types.Caller{},
	"A worker in `leasehold top --json`": top.Worker{},

	"`leasehold leases --json`": types.Lease{},

	"`leasehold limit list --json`": types.Limit{},

	"`leasehold schedule list --json`, `leasehold schedule show --json`, `leasehold schedule add --json`": types.TaskSchedule{},
}

// nextVisitWithWhy is nextRow without its embedding.
type nextVisitWithWhy struct {
	Origin   string          `json:"origin"`
	Kind     string          `json:"kind"`
	URI      string          `json:"uri"`
	Pool     string          `json:"pool"`
	Class    int             `json:"class"`
	Rate     float64         `json:"rate_per_day"`
	Value    float64         `json:"value"`
	Expected *types.Expected `json:"expected,omitempty"`
	Group    string          `json:"host_group,omitempty"`
	Gap      models.Seconds  `json:"host_gap_s,omitempty"`

	Overflows int            `json:"overflows,omitempty"`
	Missed    int            `json:"missed_items,omitempty"`
	MaxLag    models.Seconds `json:"max_lag_s,omitempty"`

	Why string `json:"why,omitempty"`
}

func TestANextVisitHasTheFieldsOfItsDocument(t *testing.T) {
	t.Parallel()
	want := append(jsonFields(reflect.TypeOf(types.NextVisit{})), "why *")
	require.Equal(t, want, jsonFields(reflect.TypeOf(nextVisitWithWhy{})))
}

var fieldLine = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)`( \\*)? \\|")

func TestTheDocumentOfJSONHasEveryFieldThatIsPrinted(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/json.md")
	require.NoError(t, err)
	sections := strings.Split(string(data), "\n## ")[1:]
	require.Len(t, sections, len(printed))
	for _, s := range sections {
		title, text, _ := strings.Cut(s, "\n")
		v, ok := printed[title]
		require.True(t, ok, "no type is known for the section %s", title)
		var documented []string
		for _, m := range fieldLine.FindAllStringSubmatch(text, -1) {
			documented = append(documented, m[1]+m[2])
		}
		require.Equal(t, jsonFields(reflect.TypeOf(v)), documented, title)
	}
}

// jsonFields returns the JSON fields of a type; * marks those that may be absent.
func jsonFields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if t.Field(i).Name == "_" { // rules about the others
			continue
		}
		if t.Field(i).Anonymous {
			names = append(names, jsonFields(t.Field(i).Type)...)
			continue
		}
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if strings.HasPrefix(options, "omit") {
			name += " *"
		}
		names = append(names, name)
	}
	return names
}
