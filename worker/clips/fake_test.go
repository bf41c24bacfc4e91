package clips_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/task"
)

const rate = 8000

// folder is Media whose URIs are names of files in it.
type folder struct {
	dir    string
	errors map[string]error // by name
	onOpen func(name string)
}

func (f *folder) Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error) {
	if ctx.Err() != nil {
		return fetch.File{}, context.Cause(ctx)
	}
	name := filepath.Base(ref.URI)
	if f.onOpen != nil {
		f.onOpen(name)
	}
	if err := f.errors[name]; err != nil {
		return fetch.File{}, err
	}
	path := filepath.Join(f.dir, name)
	if _, err := os.Stat(path); err != nil {
		return fetch.File{}, fault.ErrNotFound
	}
	return fetch.File{Path: path, Hash: "sha256:" + name}, nil
}

func (f *folder) write(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// said is one result that a handler put.
type said struct {
	part  string
	final bool
	models.Researched
}

// swept is one result of a sweep.
type swept struct {
	part  string
	final bool
	models.Swept
}

// job is a worker.Job that remembers.
type job struct {
	task     models.Task
	draining chan struct{}

	mu        sync.Mutex
	said      []said
	swept     []swept
	spent     []models.Cost
	refuse    error
	passed    []error
	elsewhere bool // whether another worker is left
	onSay     func(n int)
}

func (j *job) Task() models.Task         { return j.task }
func (j *job) Lease() (string, int64)    { return "", 0 }
func (j *job) Draining() <-chan struct{} { return j.draining }

func (j *job) Log(string) {}

func (j *job) Parents() []task.ParentResult { return nil }
func (j *job) ReadParents(context.Context) iter.Seq2[task.ParentResult, error] {
	return func(func(task.ParentResult, error) bool) {}
}
func (j *job) Report(_ context.Context, part string, body any) error {
	return j.say(part, false, body)
}
func (j *job) Resolve(_ context.Context, part string, body any) error {
	return j.say(part, true, body)
}

// PassOn passes the task on if there is another worker, named so by elsewhere.
func (j *job) PassOn(_ context.Context, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.passed = append(j.passed, err)
	if j.elsewhere {
		return nil
	}
	return fmt.Errorf("%w (worker w on m)", err)
}

func (j *job) Note(context.Context, models.Progress) error { return nil }

func (j *job) Spend(_ context.Context, c models.Cost) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spent = append(j.spent, c)
	return nil
}

func (j *job) say(part string, final bool, body any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refuse != nil {
		return j.refuse
	}
	if s, ok := body.(models.Swept); ok {
		j.swept = append(j.swept, swept{part, final, s})
		return nil
	}
	j.said = append(j.said, said{part, final, body.(models.Researched)})
	if j.onSay != nil {
		j.onSay(len(j.said))
	}
	return nil
}

// newJob is a task to find clips, named by their files, in an episode.
func newJob(t testing.TB, episode string, clips ...string) *job {
	t.Helper()
	item := func(name string) models.ResearchItem {
		return models.ResearchItem{ID: "id-" + name, Title: name, Media: models.MediaRef{URI: "file:///x/" + name, Version: "v1"}}
	}
	r := models.Research{Episode: item(episode)}
	for _, c := range clips {
		r.Clips = append(r.Clips, item(c))
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return &job{task: models.Task{ID: "t1", Action: models.ActionResearch, Data: data}, draining: make(chan struct{})}
}

// noise makes samples that occur only once.
func noise(seed uint64, n int, level float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 3))
	out := make([]float64, n)
	for i := range out {
		out[i] = level * r.NormFloat64()
	}
	return out
}

// wav encodes samples as 16-bit mono at 8 kHz.
func wav(samples []float64) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, 2*rate)
	b = append(b, 2, 0, 16, 0)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*len(samples)))
	for _, v := range samples {
		b = le.AppendUint16(b, uint16(int16(v*32767)))
	}
	return b
}
