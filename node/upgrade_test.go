package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/code"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// fixture is a data folder, a backup of it, and what both hold, as v0.1.0 wrote them. This program
// and all later ones open them: see docs/upgrade.md. Until v0.1.0 exists, a change of a format makes
// them again:
//
//	go test ./node -run OfV010IsOpened -update
const fixture = "testdata/v0.1.0"

var update = flag.Bool("update", false, "make "+fixture+" again")

// notKept are files of a data folder that the next start makes again, some of them large.
var notKept = []string{"RESERVE", "LOCK", "catalog.db-lock", "lock"}

func TestAFolderOfV010IsOpenedWithAllThatItHolds(t *testing.T) {
	if *update {
		makeFixture(t)
	}
	want, err := os.ReadFile(filepath.Join(fixture, "expect.json"))
	require.NoError(t, err)
	data := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.CopyFS(data, os.DirFS(filepath.Join(fixture, "data"))))
	restored := filepath.Join(t.TempDir(), "data")
	require.NoError(t, Restore(t.Context(), filepath.Join(fixture, "backup"), restored))

	for range 2 { // the first start may migrate it
		require.JSONEq(t, string(want), contentsOf(t, data))
	}
	var all map[string]any
	require.NoError(t, json.Unmarshal(want, &all))
	all["code"] = nil // a backup has no code index
	withoutCode, err := json.Marshal(all)
	require.NoError(t, err)
	require.JSONEq(t, string(withoutCode), contentsOf(t, restored))
}

func openDir(t *testing.T, dir string) (*DataDir, error) {
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data = dir
	return OpenDataDir(t.Context(), cfg, discard)
}

// onFolder runs do on a coordinator of a data folder, without managers and workers.
func onFolder(t *testing.T, dir string, do func(context.Context, *hosted) error) error {
	d, err := openDir(t, dir)
	if err != nil {
		return err
	}
	err = host(t.Context(), d, func(h *hosted) (supervisor.Task, []supervisor.Task) {
		return func(ctx context.Context) error { return do(ctx, h) }, nil
	})
	return errors.Join(err, d.Close())
}

// makeFixture makes the fixture again.
func makeFixture(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d, err := openDir(t, dir)
	require.NoError(t, err)
	addCatalog(t, t.Context(), d) // before a coordinator claims the visits
	require.NoError(t, d.Close())
	require.NoError(t, onFolder(t, dir, func(ctx context.Context, h *hosted) error {
		addSpaces(t, ctx, h)
		addCode(t, ctx, h)
		return nil
	}))
	d, err = openDir(t, dir)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(fixture))
	require.NoError(t, os.MkdirAll(fixture, 0o755))
	dest, err := filepath.Abs(filepath.Join(fixture, "backup"))
	require.NoError(t, err)
	require.NoError(t, d.Backup(t.Context(), dest))
	require.NoError(t, d.Close())
	require.NoError(t, os.CopyFS(filepath.Join(fixture, "data"), os.DirFS(dir)))
	require.NoError(t, filepath.WalkDir(fixture, func(path string, e os.DirEntry, err error) error {
		if slices.Contains(notKept, e.Name()) {
			return os.Remove(path)
		}
		return err
	}))
	require.NoError(t, os.WriteFile(filepath.Join(fixture, "expect.json"), []byte(contentsOf(t, dir)), 0o600))
}

// addCatalog adds origins of each job, an episode with a finding, and a visit.
func addCatalog(t *testing.T, ctx context.Context, d *DataDir) {
	for _, o := range []models.Origin{
		{ID: "talk", Kind: models.Media, URI: "/srv/talk", Priority: 3},
		{ID: "news", Kind: models.Feed, URI: "https://news.example/feed.xml"},
		{ID: "code", Kind: models.Git, URI: "https://code.example/tool.git", Branches: []string{"main"}},
	} {
		_, err := d.Catalog.AddOrigin(ctx, o)
		require.NoError(t, err)
	}
	now := time.Now()
	_, err := d.Catalog.Curate(ctx, "talk", now, catalog.Listing{
		Episodes: []models.Episode{{Recording: models.Recording{Name: "monday.mp3", Title: "Monday"}}, {Recording: models.Recording{Name: "tuesday.mp3", Title: "Tuesday"}}},
		Clips:    []models.Clip{{Recording: models.Recording{Name: "jingle.wav", Title: "Jingle"}}},
		Problems: []models.Problem{{Item: "broken.mp3", Reason: "it is not audio"}},
	})
	require.NoError(t, err)
	work, _, err := d.Catalog.Select(ctx, nil, catalog.Limits{Clips: 100})
	require.NoError(t, err)
	clip := work.Clips[0]
	require.NoError(t, d.Catalog.Ingest(ctx, models.Researched{
		Episode: work.Episode.ID, EpisodeMedia: work.Episode.Media, Clips: []string{clip.ID}, ClipMedia: map[string]models.MediaRef{clip.ID: clip.Media},
		Findings: []models.Finding{{Episode: work.Episode.ID, Clip: clip.ID, Occurrence: models.Occurrence{Offset: 754.5, Duration: 3, Score: 0.99, Coverage: 1, Speed: 1}}},
	}, now))
	visits, err := d.Visits.Claim(ctx, now, 10)
	require.NoError(t, err)
	i := slices.IndexFunc(visits, func(v models.Visit) bool { return v.Origin.ID == "talk" })
	outcome := models.Outcome{Visit: visits[i].ID, Origin: "talk", Status: models.Eventful, At: now, Digest: "d"}
	_, err = d.Visits.Record(ctx, now, []models.Outcome{outcome})
	require.NoError(t, err)
	require.NoError(t, d.Catalog.RecordOutcome(ctx, outcome))
	require.NoError(t, d.Visits.Disable(ctx, now, "news"))
}

// addSpaces adds tasks in each state that outlives a coordinator, a limit, a paused schedule, and a
// space of a user.
func addSpaces(t *testing.T, ctx context.Context, h *hosted) {
	repo, err := h.Connect(ctx, "fixture", 0)
	require.NoError(t, err)
	c := task.Client{Repo: repo}
	require.NoError(t, c.SetLimit(ctx, task.Limit{Name: "printers", Max: 2}))
	create := func(action, subject string, o models.TaskOptions) task.Item {
		i, err := c.Create(ctx, models.Task{Action: action, Subject: subject, Data: json.RawMessage(`{"pages":3}`), Timeout: 60, TaskOptions: o}, 5)
		require.NoError(t, err)
		return i
	}
	for _, end := range []string{"done", "dead"} {
		create(end, "s", models.TaskOptions{Tags: []string{"red"}})
		i, err := c.Claim(ctx, end)
		require.NoError(t, err)
		if end == "done" {
			_, err = c.Resolve(ctx, i, map[string]int{"printed": 3})
		} else {
			err = c.Fail(ctx, i, task.Failure{Reason: "no paper", Output: "the last line", GiveUp: true})
		}
		require.NoError(t, err)
	}
	parent := create("print", "report", models.TaskOptions{Tags: []string{"red", "blue"}, Group: "office", Limits: []string{"printers"}, UniqueKey: "one"})
	create("bind", "report", models.TaskOptions{After: []string{parent.ID}, OnFailure: models.RunAnyway, MaxAttempts: 7})
	require.NoError(t, c.Pause(ctx, "shred"))
	s := schedule.Client{Repo: repo}
	_, _, err = s.Set(ctx, "nightly", models.Schedule{Cron: "30 3 * * *", Zone: "Europe/Berlin", Task: models.ScheduledTask{Action: "import"}})
	require.NoError(t, err)
	_, err = s.Pause(ctx, "nightly") // else a start in a later year would create its task
	require.NoError(t, err)
	require.NoError(t, repo.Create(ctx, "notes", space.Options{Kind: space.Queue}))
	for n := range 3 {
		require.NoError(t, repo.Space("notes").Put(ctx, tuple.New("note", int64(n), 0.5, true, []byte{0, 255}), 0))
	}
}

// addCode adds a generation of a repository to the code index.
func addCode(t *testing.T, ctx context.Context, h *hosted) {
	text := []byte("package tool\n\nfunc Turn() {}\n")
	id := code.OIDOf(text)
	_, err := h.index.Put(ctx, "batch", []code.Blob{{OID: id, Content: text, BlobInfo: code.BlobInfo{Size: int64(len(text)), Lang: "Go", Lines: 3, Code: 2},
		Symbols: []code.Symbol{{Name: "Turn", Kind: "func", Line: 3, End: 3}}}})
	require.NoError(t, err)
	require.NoError(t, h.index.Publish(ctx, code.Manifest{RepoID: "code", Repo: "code.example/tool", Refs: []code.Ref{{Name: "main", Commit: string(id)}},
		Files: []code.File{{Ref: "main", Path: "tool.go", OID: id}}}))
}

// contentsOf opens a data folder and returns what it holds, as JSON.
func contentsOf(t *testing.T, dir string) string {
	all := map[string]any{}
	require.NoError(t, onFolder(t, dir, func(ctx context.Context, h *hosted) error {
		readCatalog(t, ctx, h, all)
		readSpaces(t, ctx, h, all)
		all["code"] = readCode(t, ctx, h)
		return nil
	}))
	text, err := json.MarshalIndent(all, "", "\t")
	require.NoError(t, err)
	return string(text) + "\n"
}

func readCatalog(t *testing.T, ctx context.Context, h *hosted, all map[string]any) {
	var err error
	keep := func(name string, what any) {
		require.NoError(t, err)
		require.NotEmpty(t, what, name)
		all[name] = what
	}
	origins, err := h.Catalog.Origins(ctx)
	keep("origins", origins)
	visits := map[string]any{}
	for _, o := range origins {
		s, err := h.Visits.Schedule(ctx, time.Now(), o.ID)
		require.NoError(t, err)
		visits[o.ID] = []any{s.Disabled, s.LastStatus, s.History}
	}
	keep("visits", visits)
	episodes, err := h.Catalog.Episodes(ctx)
	keep("episodes", episodes)
	clips, err := h.Catalog.Clips(ctx)
	keep("clips", clips)
	findings, err := h.Catalog.Findings(ctx)
	keep("findings", findings)
	problems, err := h.Catalog.Problems(ctx)
	keep("problems", problems)
	totals, err := h.Catalog.Totals(ctx)
	keep("totals", totals)
}

func readSpaces(t *testing.T, ctx context.Context, h *hosted, all map[string]any) {
	repo, err := h.Connect(ctx, "fixture", 0)
	keep := func(name string, what any) {
		require.NoError(t, err)
		require.NotEmpty(t, what, name)
		all[name] = what
	}
	c := task.Client{Repo: repo}
	var tasks []any
	for _, state := range []task.State{"", task.StateDead, task.AnyEnd} {
		page, _, err := c.List(ctx, task.Filter{State: state}, nil, 100)
		require.NoError(t, err)
		for _, l := range page {
			shown, err := c.Show(ctx, l.ID)
			require.NoError(t, err)
			require.NoError(t, shown.Err)
			result := ""
			if shown.End != nil {
				result = shown.End.Result
			}
			tasks = append(tasks, []any{shown.StateNow(), shown.Task, shown.Priority, shown.Reason, shown.DiedAt, result})
		}
	}
	require.Len(t, tasks, 4)
	keep("tasks", tasks)
	limits, err := c.Limits(ctx)
	keep("limits", limits)
	paused, err := c.PausedActions(ctx)
	keep("paused", paused)
	schedules, err := schedule.Client{Repo: repo}.List(ctx)
	keep("schedules", schedules)
	notes, err := repo.Space("notes").QueryAll(ctx, tuple.Match("note", tuple.AnyInt64, tuple.Formal{Type: tuple.Float64}, tuple.AnyBool, tuple.Formal{Type: tuple.Bytes}))
	require.Len(t, notes, 3)
	keep("notes", fmt.Sprint(notes))
}

// readCode searches the code index. It is nil if the index is empty.
func readCode(t *testing.T, ctx context.Context, h *hosted) (found any) {
	q, err := code.Parse("sym:Turn")
	require.NoError(t, err)
	_, err = h.index.Search(ctx, q, code.Options{}, func(m code.Match) bool { found = m; return true })
	require.NoError(t, err)
	return found
}

func TestADataFolderOfAnotherFormatIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	// The formats are in the last byte of the first eight, and in SQLite's user_version at byte 60.
	edit := func(pattern string, at int, bytes ...byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			require.Len(t, files, 1)
			content, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(files[0], append(content[:at:at], append(bytes, content[at+len(bytes):]...)...), 0o600))
		}
	}
	userVersion := func(n uint32) func(*testing.T, string) {
		return edit("catalog.db", 60, binary.BigEndian.AppendUint32(nil, n)...)
	}
	for name, c := range map[string]struct {
		change func(*testing.T, string)
		want   string
		kind   error
	}{
		"a folder with visits.db": {func(t *testing.T, dir string) {
			userVersion(3)(t, dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "visits.db"), []byte("the schedule"), 0o600))
		}, "catalog.db: it has format 3, this program reads format 101: use the leasehold that wrote it", fault.ErrInvalid},
		"an older database":    {userVersion(100), "it has format 100, this program reads format 101: use the leasehold that wrote it", fault.ErrInvalid},
		"a newer database":     {userVersion(102), "it has format 102, this program reads format 101: use the leasehold that wrote it", fault.ErrInvalid},
		"an older journal":     {edit("journal/FORMAT", len("leasehold journal "), '3'), "it has format 3, this program reads format 4: use the leasehold that wrote it", fault.ErrInvalid},
		"a newer journal":      {edit("journal/FORMAT", len("leasehold journal "), '5'), "it has format 5, this program reads format 4: use the leasehold that wrote it", fault.ErrInvalid},
		"a segment of code":    {edit("index/segments/*", 7, 2), "it has format 2, this program reads format 1", fault.ErrCorrupt},
		"a generation of code": {edit("index/repositories/*", 7, 2), "it has format 2, this program reads format 1", fault.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.CopyFS(data, os.DirFS(filepath.Join(fixture, "data"))))
			c.change(t, data)
			err := onFolder(t, data, func(ctx context.Context, h *hosted) error {
				_, err := h.index.Repositories(ctx) // all else goes on without the code index
				return err
			})
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.want)
		})
	}
}
