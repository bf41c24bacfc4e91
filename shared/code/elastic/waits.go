package elastic

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// When waits tell that requests wait.
const (
	quietWait = 5 * time.Second  // shorter ones are usual
	noAnswer  = 10 * time.Second // of one request, which then counts as refused
	waitEnds  = 2 * time.Minute  // after the last refusal nobody waits any more
)

// waits knows since when requests are repeated because the server refuses them or does not answer: reads and writes
// apart, because a server whose disk is full refuses writes only.
type waits struct {
	log *slog.Logger // nil: none

	mu            sync.Mutex // guards reads and writes
	reads, writes wait
}

// wait is the refusals in a row.
type wait struct {
	since, last time.Time // zero: none
	err         error     // of the last
	told        bool      // log has it
}

func (w *waits) of(writes bool) *wait {
	if writes {
		return &w.writes
	}
	return &w.reads
}

// refused notes the refusal of a request that began then, and logs that requests wait if they have waited for a while.
func (w *waits) refused(writes bool, began time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, of := time.Now(), w.of(writes)
	if of.since.IsZero() || now.Sub(of.last) > waitEnds {
		*of = wait{since: began}
	}
	of.last, of.err = now, err
	if !of.told && now.Sub(of.since) >= quietWait && w.log != nil {
		of.told = true
		w.log.Warn("code index: the search server refuses requests or does not answer; they are repeated", "error", err)
	}
}

// watch notes that a request is not answered, once noAnswer has passed. The caller calls stop when it is.
func (w *waits) watch(writes bool) (stop func()) {
	began := time.Now()
	timer := time.AfterFunc(noAnswer, func() {
		w.refused(writes, began, fmt.Errorf("search server: %w: no answer since %s", fault.ErrUnavailable, began.Format(time.TimeOnly)))
	})
	return func() { timer.Stop() }
}

// accepted notes that a request has succeeded.
func (w *waits) accepted(writes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.of(writes)
	if of.told {
		w.log.Info("code index: the search server answers again", "after", time.Since(of.since).Round(time.Second))
	}
	*of = wait{}
}

// Waits returns since when requests wait for the server, and why: the last error. It returns nil if none has waited
// for long.
func (x *Index) Waits() (since time.Time, err error) {
	w := &x.client.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, of := range []*wait{&w.reads, &w.writes} {
		isLong := !of.since.IsZero() && now.Sub(of.since) >= quietWait && now.Sub(of.last) <= waitEnds
		if isLong && (err == nil || of.since.Before(since)) {
			since, err = of.since, of.err
		}
	}
	return since, err
}
