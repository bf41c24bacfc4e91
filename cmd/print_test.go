package cmd

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares output with a file of testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s: go test ./cmd -run Golden -update writes it", path)
}

// inEachForm prints rows, no rows and one row in each format.
func inEachForm[T row](t *testing.T, name string, rows ...T) {
	t.Helper()
	for _, form := range outputs {
		var buf bytes.Buffer
		a, o := &app{out: &buf}, &output{form: form}
		require.NoError(t, show(a, o, rows, "none"))
		buf.WriteString("--- none:\n")
		require.NoError(t, show(a, o, rows[:0], "none"))
		buf.WriteString("--- one:\n")
		require.NoError(t, showOne(a, o, rows[0]))
		golden(t, name+"."+form, buf.String())
	}
}

func TestGoldenRowsInEachForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	inEachForm(t, "findings", findingRow{catalog.Finding{
		EpisodeTitle: "Monday, \"live\"", ClipTitle: "=1+1", Occurrence: models.Occurrence{Offset: 77.19, Duration: 2.5, Score: 0.97, PartFrom: 1.25, PartTo: 3.775, Coverage: 0.875, Speed: 1.01},
		EpisodeID: "e", ClipID: "c", EpisodeURI: "https://example.org/1.mp3",
	}}, findingRow{catalog.Finding{
		EpisodeTitle: "as an older worker tells it", ClipTitle: "c", Occurrence: models.Occurrence{Duration: 1, Score: 0.7},
		EpisodeID: "f", ClipID: "c", EpisodeURI: "file:///2.mp3", WithinTitle: "theme", WithinID: "t",
	}})
	inEachForm(t, "problems",
		problemRow{Subject: "\tx", Reason: "two\nlines", At: "2026-11-21T06:00:00Z", Item: "@item"}, problemRow{Subject: "y", Reason: "r", Clip: "-c"})
	inEachForm(t, "origins",
		originRow{models.Origin{ID: "o", Kind: models.Feed, URI: "https://example.org/feed.xml", Priority: -1, AddedAt: at, LastVisit: at, LastOutcome: models.Failed, LastError: "404"}},
		originRow{models.Origin{ID: "p", Kind: models.Clips, URI: "/clips", AddedAt: at}})
	inEachForm(t, "settings", settingRow{config.Value{Key: "drain", Value: "7s", Source: "leasehold.yaml:2"}})
	inEachForm(t, "sessions", sessionRow{types.Session{
		ID: "worker-7f3a9c01", Mode: "worker", State: "Working on: research 9c1e", Since: "2026-11-21T06:00:00Z",
		Serves: []types.Served{{Action: "research", Slots: 2}, {Action: "index", Slots: 1}}, Tasks: []string{"t1", "t2"},
	}})
	inEachForm(t, "spaces", spaceRow{types.Space{Name: "log", Kind: "sequential", Visible: 7, Held: 1, Capacity: 10_000, Overflow: "drop_oldest", Volatile: true, QueryOnly: true}})
	inEachForm(t, "counts", counted{"task", "research ...", 3})
	inEachForm(t, "tuples", tupleRow{types.Tuple{
		Line: "x 1", Fields: []types.Field{{Type: "string", Value: json.RawMessage(`"x"`)}, {Type: "int64", Value: json.RawMessage("1")}}, State: "held", Holder: "worker-1",
	}})
	holder := "lab/slot-1"
	inEachForm(t, "tasks", taskRow{types.Task{
		ID: "t1", Action: "research", State: "claimed", CurrentClaimant: &holder, Session: "worker-1", Subject: "e", Parts: []string{"a", "b"}, Lease: "l", Priority: -3, Attempts: 1, Timeout: 1800,
		Claimants: []string{"worker-2"}, Note: "cannot", History: []models.Attempt{{Worker: "worker-2", Error: "cannot"}}, CreatedAt: at, ClaimedAt: &at, Data: json.RawMessage(`{"n":"<b>"}`),
	}})
}

func TestGoldenStatusInEachForm(t *testing.T) {
	t.Parallel()
	full := client.Status{
		Attention: []models.Attention{{
			ID: "3f2a9c1d7e45", Cause: models.CausePaused, Severity: models.StopsWork, About: "mail", Text: "mail is paused, and 2 tasks wait\x1b[2J", Detail: "By anna.",
			Since: time.Date(2026, 3, 5, 3, 0, 9, 0, time.UTC), Count: 2, Example: "t1", Command: "leasehold task resume mail",
			Remedy: &models.Remedy{Label: "Resume mail", Operation: "resumeAction", Params: map[string]string{"action": "mail"}, Request: "POST /api/v1/actions/mail/resume"},
		}},
		Coordinator: "http://127.0.0.1:7412",
		Sessions:    []types.Session{{ID: "manager-1", Mode: "manager", State: "idle\x1b[31m", Since: "2026-11-21T06:00:00Z", Serves: []types.Served{}, Tasks: []string{}}},
		Spaces:      []types.Space{{Name: "task", Kind: "ordered", Visible: 2}},
		Totals:      catalog.Totals{Origins: 1, Episodes: 3, Clips: 8, Findings: 24, Problems: 1, Researched: 24},
		Dead:        2,
		Database:    types.DatabaseCheck{Damage: []string{}},
		Costs: []models.Cost{
			{Action: "research", How: "decoded", Tasks: 2, Wall: 4.4, CPU: 5, Windows: 61}, {Action: "research", How: "known", Tasks: 3, Wall: .195, CPU: .18, Windows: 3},
			{Action: "dig", How: "spade", Tasks: 1, Wall: 1},
		},
	}
	for _, form := range outputs {
		var buf bytes.Buffer
		a := &app{out: &buf}
		require.NoError(t, a.showStatus(&output{form: form}, full))
		buf.WriteString("--- empty:\n")
		require.NoError(t, a.showStatus(&output{form: form}, client.Status{Coordinator: "http://127.0.0.1:7412", Attention: []models.Attention{}, Sessions: []types.Session{}, Spaces: []types.Space{}, Costs: []models.Cost{}, Database: types.DatabaseCheck{Damage: []string{}}}))
		golden(t, "status."+form, buf.String())
	}
}

func TestACellOfCSVIsNotAFormulaAndReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.OneOf(rapid.String(), rapid.StringMatching(`[=+\-@\t\r][ -~]*`)).Draw(t, "text")
		var buf bytes.Buffer
		if err := printCSV(&app{out: &buf}, []problemRow{{Subject: said, Reason: "r"}}); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&buf).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cell := records[1][0]
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Fatalf("cell %q is a formula", cell)
		}
		// A reader of CSV makes \n of \r\n.
		if plain := strings.ReplaceAll(said, "\r\n", "\n"); cell != plain && cell != "'"+plain {
			t.Fatalf("%q became %q", said, cell)
		}
	})
}

func TestOnlyOneFormatMayBeSelected(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--json", "-o", "csv"}, {"-o", "csv", "--json"}, {"-o", "xml"}, {"--json=perhaps"}} {
		var out, err bytes.Buffer
		a := &app{out: &out, err: &err}
		require.Equal(t, 2, a.run(t.Context(), append([]string{"config", "show"}, args...)), args)
	}
	var out, err bytes.Buffer
	a := &app{out: &out, err: &err}
	require.Equal(t, 0, a.run(t.Context(), []string{"config", "show", "--json=false"}), err.String())
	require.Contains(t, out.String(), "SETTING")
}

func TestAProblemOfAnItemNamesItsOrigin(t *testing.T) {
	t.Parallel()
	p := catalog.Problem{OriginURI: "https://example.org/feed.xml"}
	p.Item = "Ep 1"
	require.Equal(t, "Ep 1 in https://example.org/feed.xml", subject(p))
}

func TestTablesTellReasonsWithoutTheKindOfTheError(t *testing.T) {
	t.Parallel()
	reason := "no such file or folder: not found"
	for name, r := range map[string]row{
		"problem":    problemRow{Subject: "x", Reason: reason},
		"origin":     originRow{models.Origin{LastError: reason}},
		"past visit": pastRow{types.PastVisit{Error: reason}},
		"schedule":   scheduleRow{types.TaskSchedule{Note: reason}},
	} {
		cells := ""
		for _, c := range r.columns() {
			cells += c.cell + "\n"
		}
		require.Contains(t, cells, "no such file or folder\n", name)
	}
}

func TestATableWithAPasswordIsAligned(t *testing.T) {
	t.Parallel()
	var printed bytes.Buffer
	out := &redactor{to: &printed}
	a := &app{out: out}
	require.NoError(t, printTable(a, []originRow{{models.Origin{URI: "https://bob:s3cret@example.org", Disabled: "https://bob:long-s3cret@example.org"}}, {models.Origin{URI: "short"}}}))
	out.flush()
	require.NotContains(t, printed.String(), "s3c")
	lines := strings.Split(printed.String(), "\n")
	at := strings.Index(lines[0], "URI")
	require.Equal(t, at, strings.LastIndex(lines[1], "https://"), printed.String())
	require.Equal(t, at, strings.Index(lines[2], "short"), printed.String())
}

func TestTheTimeLeftIsEstimatedFromWhatIsDone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "time left not known yet", timeLeft(time.Second, 0, 24))
	require.Equal(t, "about 10s left", timeLeft(10*time.Second, 12, 24))
	require.Equal(t, "about 1s left", timeLeft(time.Millisecond, 1, 2))
	require.Equal(t, "about 1h40m left", timeLeft(100*time.Second, 1, 61))
	require.Equal(t, "nearly done", timeLeft(time.Second, 24, 24))
}
