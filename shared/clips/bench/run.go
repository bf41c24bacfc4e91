package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"leasehold/shared/clips"
	"leasehold/shared/clips/bench/set"
	"leasehold/shared/process/platform"
)

const longest = 24 * time.Hour // of an episode

// Figures are the measurements of one method on one set.
type Figures struct {
	Set    string
	Method string
	Seed   uint64
	Hours  float64 // of the episodes with clips
	Clips  int
	Runs   int
	Groups []Group
	// FreeHours are the hours of the episodes without clips. FreeWrong counts the findings in them.
	FreeHours float64
	FreeWrong int
	Index     Spread  // CPU seconds to build the index
	Match     Spread  // CPU seconds to search an hour
	DecodeS   float64 // CPU seconds to decode an hour, including ffmpeg
	HeapMB    float64 // live heap of the method after the search, including its clips
}

// Spread is the median, the minimum and the maximum of the runs.
type Spread struct{ Median, Least, Most float64 }

// spread returns the spread of at least one value, and sorts the values.
func spread(all []float64) Spread {
	slices.Sort(all)
	return Spread{all[len(all)/2], all[0], all[len(all)-1]}
}

// Run measures a method on a set in a number of runs, at least one. Each run starts with a new
// method. The findings must be the same in every run; otherwise, or if the method or decoding
// fails, it returns the error with the figures so far.
func Run(ctx context.Context, s *set.Set, name string, newMethod func() Method, runs int, log *slog.Logger) (Figures, error) {
	f := Figures{Set: s.Name, Seed: s.Seed, Method: name, Hours: s.Hours(false), FreeHours: s.Hours(true), Clips: len(s.Clips), Runs: runs}
	var index, search []float64
	for i := range runs {
		log.Info("run", "set", s.Name, "method", name, "clips", len(s.Clips), "run", i+1)
		r := run{set: s, method: newMethod(), log: log}
		if err := r.measure(ctx); err != nil {
			return f, fmt.Errorf("bench %s on %s: %w", name, s.Name, err)
		}
		index, search = append(index, r.index.Seconds()), append(search, r.match.Seconds()/(f.Hours+f.FreeHours))
		f.DecodeS, f.HeapMB = r.decode.Seconds()/(f.Hours+f.FreeHours), r.heapMB
		groups := tally(r.judged)
		if i > 0 && !same(groups, f.Groups) {
			return f, fmt.Errorf("bench %s on %s: run %d found something else than run 1", name, s.Name, i+1)
		}
		f.Groups, f.FreeWrong = groups, r.freeWrong
	}
	f.Index, f.Match = spread(index), spread(search)
	return f, nil
}

// same reports whether two runs found the same in each group, with the same errors of offset.
func same(a, b []Group) bool {
	return slices.EqualFunc(a, b, func(x, y Group) bool {
		return x.Played == y.Played && x.Hits == y.Hits && x.Wrong == y.Wrong && slices.Equal(x.errors, y.errors)
	})
}

// run is one run of a method on a set, and its costs.
type run struct {
	set    *set.Set
	method Method
	log    *slog.Logger // gets each miss and each wrong finding at level debug

	index, match, decode time.Duration
	heapMB               float64
	judged               []judged
	freeWrong            int
}

// measure indexes the clips and searches every episode, and adds up the costs. Decoding, indexing
// and searching are timed separately. heapMB is what the method and the clips hold at the end, so
// both are kept alive until it is read.
func (r *run) measure(ctx context.Context) error {
	before := heap()
	list, err := r.loadClips(ctx)
	if err != nil {
		return err
	}
	if err := timed(&r.index, func() error { return r.method.Index(ctx, list) }); err != nil {
		return err
	}
	for _, e := range r.set.Episodes {
		var wave []float32
		err := timed(&r.decode, func() (err error) {
			wave, err = clips.LoadAt(ctx, r.set.Path(e.File), r.method.RateHz(), longest)
			return err
		})
		if err != nil {
			return err
		}
		var found []Found
		err = timed(&r.match, func() (err error) {
			found, err = r.method.Match(ctx, wave)
			return err
		})
		if err != nil {
			return err
		}
		if e.Free {
			r.freeWrong += len(found)
			for _, f := range found {
				r.log.Debug("wrong", "file", e.File, "clip", f.Clip, "offset_s", f.OffsetS, "score", f.Score, "coverage", f.Coverage, "speed", f.Speed)
			}
			continue
		}
		r.judged = append(r.judged, judge(r.set, e, found, r.log)...)
	}
	r.heapMB = heap() - before
	runtime.KeepAlive(r.method)
	runtime.KeepAlive(list)
	return nil
}

// loadClips decodes the clips of the set at the rate of the method. The error names the file.
func (r *run) loadClips(ctx context.Context) ([]Clip, error) {
	var all []Clip
	for _, c := range r.set.Clips {
		wave, err := clips.LoadAt(ctx, r.set.Path(c.File), r.method.RateHz(), 2*time.Minute)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.File, err)
		}
		all = append(all, Clip{c.ID, wave})
	}
	return all, nil
}

// heap returns the size of the live heap in megabytes.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// timed runs f, and adds to d the CPU time that this process and its children used meanwhile.
func timed(d *time.Duration, f func() error) error {
	before := platform.ProcessorTime()
	err := f()
	*d += platform.ProcessorTime() - before
	return err
}
