package top

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/types"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) {
	time.Local = time.UTC // the pictures show local times
	os.Exit(m.Run())
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func secondsOf(d time.Duration) *models.Seconds {
	s := models.Seconds(d.Seconds())
	return &s
}

// fixture returns data in which every pane has rows, some with text of others that a terminal must not obey.
func fixture() Data {
	worker := "build-1"
	d := Data{
		At: noon, Coordinator: "http://127.0.0.1:7412",
		Caller: types.Caller{ID: "token-x", Name: "ann", Operations: []string{"pauseAction", "resumeAction", "requeueDead", "discardDead", "requeueSelected", "discardSelected", "cancelSelected", "cancelTask", "drainSession", "dismissAttention"}},
		Attention: []models.Attention{
			{ID: "a1", Severity: models.StopsWork, About: "resize", Since: noon.Add(-12 * time.Minute), Text: "The action resize is paused, and 40 tasks wait", Detail: "by ann: the disk of the image store is full, and nobody has cleaned it up yet", Command: "leasehold task resume resize", Remedy: &models.Remedy{Label: "resume", Operation: "resumeAction", Params: map[string]string{"action": "resize"}, Request: "POST /actions/resize/resume"}},
			{ID: "a2", Severity: models.Degrades, About: "import", Since: noon.Add(-3 * time.Hour), Text: "3 dead letters of import: \x1b[31mconnection refused", Command: "leasehold dead requeue --action import",
				Remedy: &models.Remedy{Label: "requeue all", Operation: "requeueSelected", Lasting: true, Body: []byte(`{"action":"import","text":"refused","count":3,"before":"2026-11-29T12:00:00Z"}`), Count: 3}},
			{ID: "a3", Severity: models.ToKnow, Since: noon.Add(-50 * time.Hour), Text: "Clients are not authenticated", Command: "leasehold coordinator --auth"},
		},
		Actions: []types.Action{
			{Action: "import", Tasks: map[string]int64{"waiting": 2, "claimed": 1, "dead": 3}, Workers: 1, Slots: 4, SlotsInUse: 1, OldestClaimable: secondsOf(90 * time.Second), EndedPerMinute: 12, Median: secondsOf(time.Second), P95: secondsOf(2500 * time.Millisecond)},
			{Action: "resize", Paused: true, Since: noon.Add(-12 * time.Minute), Why: "the disk is full", Tasks: map[string]int64{"paused": 40}},
		},
		Workers: []Worker{
			{OpenSession: types.OpenSession{ID: "worker-1a2b", Name: worker, Mode: "worker", Host: "build.example.org", PID: 4711, Version: "0.1.0", State: "working", Opened: "2026-11-29T08:00:00Z", LastHeartbeat: "2026-11-29T11:59:59Z"}, Serves: []types.Served{{Action: "import", Slots: 4}}, Tasks: []string{"t7"}},
			{OpenSession: types.OpenSession{ID: "manager-3c4d", Mode: "manager", Host: "build.example.org", PID: 4712, Version: "0.1.0", State: "idle", LastHeartbeat: "2026-11-29T11:59:58Z"}, Serves: []types.Served{}, Tasks: []string{}},
		},
		Tasks: []types.Task{
			{ID: "t7", Action: "import", State: "claimed", CreatedAt: noon.Add(-5 * time.Minute), CurrentClaimant: &worker, Progress: &models.Progress{Fraction: 0.5, Text: "half of the pages"}},
			{ID: "t8", Action: "import", State: "waiting", CreatedAt: noon.Add(-90 * time.Second), Attempts: 1, Why: &types.Why{Code: "next", Text: "it is the next one of its action"}},
			{ID: "t9", Action: "import", State: "dead", CreatedAt: noon.Add(-26 * time.Hour), Attempts: 3, Note: "connection refused"},
		},
	}
	return d
}

// shown returns a model of a size that has read the data.
func shown(width, height int) Model {
	m := New(Options{Clean: withoutEscapes}, noon)
	m, _ = m.Update(Size{width, height})
	m, _ = m.Update(Answer{Data: fixture()})
	return m
}

// press presses keys, and returns the last effect.
func press(m Model, keys ...string) (Model, any) {
	var effect any
	for _, k := range keys {
		m, effect = m.Update(Key{Name: k, Text: k})
	}
	return m, effect
}

// golden compares a picture with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
