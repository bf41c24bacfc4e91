package catalogtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// exerciseConcurrency lets four managers, which do not know each other's selections, research all
// while two origins are visited and another caller reads. Afterwards all must be researched, each
// pair once.
func exerciseConcurrency(t *testing.T, open Open) {
	w := newWorld(t, open)
	errs := make(chan error, 100)
	var all sync.WaitGroup
	for _, f := range []func() error{
		func() error { return curateInSteps(w, show) },
		func() error { return curateInSteps(w, spots) },
		func() error { return readOften(w) },
		func() error { return researchFor(w, 30) }, func() error { return researchFor(w, 30) },
		func() error { return researchFor(w, 30) }, func() error { return researchFor(w, 30) },
	} {
		all.Go(func() { errs <- f() })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		w.ok(err)
	}
	w.researchAll()
	if got := w.totals(); got.Episodes != 10 || got.Clips != 10 || got.Researched != 100 || got.Findings != 0 {
		t.Fatalf("got %+v", got)
	}
}

// curateInSteps lists ten recordings, one more at each visit, and returns the first error.
func curateInSteps(w *world, origin string) error {
	var l catalog.Listing
	for i := range 10 {
		name := fmt.Sprint(i)
		if origin == show {
			l.Episodes = append(l.Episodes, episode(name))
		} else {
			l.Clips = append(l.Clips, clip(name))
		}
		if _, err := w.Curate(w.ctx, origin, start.Add(time.Duration(i)*time.Minute), l); err != nil {
			return err
		}
	}
	return nil
}

// readOften calls all methods that list, and returns the first errors.
func readOften(w *world) error {
	for range 20 {
		_, err1 := w.Totals(w.ctx)
		_, err2 := w.Findings(w.ctx)
		_, err3 := w.Problems(w.ctx)
		_, err4 := w.Clips(w.ctx)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
	}
	return nil
}

// researchFor selects and ingests in a number of rounds, while the pair of episode 3 and clip 4 is busy. A round
// with nothing to select does nothing.
func researchFor(w *world, rounds int) error {
	for range rounds {
		r, _, err := w.Select(w.ctx, []catalog.Busy{{Episode: episodeID("3"), Clips: []string{clipID("4")}}}, catalog.Limits{Clips: 2})
		if errors.Is(err, fault.ErrNotFound) {
			continue
		}
		if err == nil && r.Episode.ID == episodeID("3") && containsClip(r, clipID("4")) {
			err = errors.New("a busy clip was selected")
		}
		if err == nil {
			err = w.Ingest(w.ctx, result(r), start)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// containsClip reports whether a selection has the clip with an id.
func containsClip(r models.Research, id string) bool {
	for _, c := range r.Clips {
		if c.ID == id {
			return true
		}
	}
	return false
}
