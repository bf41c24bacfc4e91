package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// Bounds of a check that goes on beside a coordinator.
const (
	liveTuples = 100_000 // at once
	liveModel  = 200_000 // of a model
	liveNote   = time.Second
)

// liveCheck prints what a check of a trace finds while it goes on, as lines of JSON.
type liveCheck struct {
	read atomic.Uint64
	mu   sync.Mutex // guards the fields below
	out  *json.Encoder
	wait map[string]string
	err  error // of writing
	stop context.CancelFunc
}

// checkLive checks a trace against all models from its last reload on, until ctx ends, and prints notes
// (models.CheckNote). It ends when nobody reads them any more.
func (a *app) checkLive(ctx context.Context, path string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &liveCheck{out: json.NewEncoder(a.out), wait: map[string]string{}, stop: stop}
	log, err := trace.FollowLatest(ctx, path)
	if err != nil {
		return usageError(err.Error())
	}
	defer log.Close() // only read
	system, err := conform.LoadSystem(conform.Options{States: liveModel, Tuples: liveTuples, Deviates: l.deviates, Resumes: l.resumes, Read: &l.read})
	if err != nil {
		return err
	}
	var noting sync.WaitGroup
	defer noting.Wait()
	defer stop()
	noting.Go(func() { l.noteEach(ctx, liveNote) })
	_, err = system.Check(context.WithoutCancel(ctx), path, log) // the end of the log ends the check
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, conform.ErrNoLog) && ctx.Err() != nil { // no event came
		err = nil
	}
	return errors.Join(err, l.err)
}

// noteEach prints a note at once and after each interval until ctx ends.
func (l *liveCheck) noteEach(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		l.mu.Lock()
		l.note(nil)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// note prints a note. After an error the check ends. The caller holds l.mu.
func (l *liveCheck) note(d *models.Deviation) {
	if l.err == nil {
		l.err = l.out.Encode(models.CheckNote{Seq: l.read.Load(), Waits: maps.Clone(l.wait), Deviation: d})
	}
	if l.err != nil {
		l.stop()
	}
}

// deviates prints that a model waits for the next reload: after a deviation, or because it cannot go on.
func (l *liveCheck) deviates(r *conform.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Violation == nil {
		l.wait[r.Model] = r.Reason
		l.note(nil)
		return
	}
	l.wait[r.Model] = "it has found a deviation"
	l.note(&models.Deviation{Model: r.Model, Seq: r.Violation.Event.Seq, Why: r.Violation.Why, Text: r.Violation.Sentence()})
}

// resumes prints that a model checks again.
func (l *liveCheck) resumes(model string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wait, model)
	l.note(nil)
}
