package clips

import (
	"context"
	"errors"
	"time"

	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/process/failpoint"
)

// groupSamples bounds the total length of the clips of a group: 20 minutes.
const groupSamples = 20 * 60 * match.RateHz

// outcome is the result of one clip.
type outcome struct {
	findings []match.Finding
	err      error
	last     bool // of its group
}

// searchAll fetches the episode and searches it, group by group, for all clips that have no
// result yet. It returns nil once the task is resolved, with results or as a failure of the
// episode. The cost is reported before the last result, which ends the task. Any other error has
// the worker release the task; the clips with a result stay done.
func (a *attempt) searchAll(ctx context.Context) error {
	began := time.Now()
	failpoint.Reached("research.fetch", "")
	e, err := a.handler.openEpisode(ctx, &a.episode)
	if err != nil {
		return a.failEpisode(ctx, err)
	}
	defer func() { _ = e.Close() }() // nothing is written to it
	if len(a.task.Clips) == 0 {
		return a.job.Resolve(ctx, a.task.Episode.ID, a.newResult())
	}
	a.broken = e.Broken
	a.draw(ctx, e)
	opened := time.Since(began)
	failpoint.Reached("research.run", "")
	for a.next < len(a.task.Clips) { // putResult advances a.next
		group, err := a.searchGroup(ctx, e)
		if err != nil {
			return a.searchFails(ctx, err)
		}
		if a.next+len(group) == len(a.task.Clips) {
			a.reportCost(ctx, e, opened, time.Since(began)-opened)
		}
		for _, o := range group {
			if err := a.putResult(ctx, o); err != nil {
				return ignoreResolved(err) // putResult may resolve the task early, if the worker drains
			}
		}
	}
	return nil
}

// ignoreResolved returns nil for errResolved, and any other error as it is.
func ignoreResolved(err error) error {
	if errors.Is(err, errResolved) {
		return nil
	}
	return err
}

// searchGroup searches the episode for the next group of clips, from a.next on, and returns an outcome for each,
// in their order. A clip that cannot be searched has its error there. A clip longer than an episode that breaks
// off has no error, because it may have been played where nothing can be read. At least one clip must be left, so
// the group is never empty.
func (a *attempt) searchGroup(ctx context.Context, e *episode) ([]outcome, error) {
	var b index.Builder
	var group []outcome
	var indexed []int // the position in the group, for each clip of the index
	total := 0
	for i := a.next; i < len(a.task.Clips) && len(group) < a.handler.opt.Group && total < groupSamples; i++ {
		wave, err := a.loadClip(ctx, i, e.Samples)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if isMissing(err) && !a.agreed {
			if err = passOn(ctx, a.job, err); errors.Is(err, errResolved) {
				return nil, err
			}
			a.agreed = true
		}
		if errors.Is(err, exact.ErrLongerThanEpisode) && e.Broken != "" {
			group = append(group, outcome{})
			continue
		}
		if err == nil {
			err = b.Add(a.task.Clips[i].ID, wave)
		}
		if err == nil {
			indexed = append(indexed, len(group))
			total += len(wave)
		}
		group = append(group, outcome{err: err})
	}
	group[len(group)-1].last = true
	x, err := b.Build()
	if err != nil {
		return nil, err
	}
	known := match.Known{Samples: e.Samples, Landmarks: e.Of, Sound: e}
	err = match.FindKnown(ctx, x, known, a.handler.opt.Match, func(f match.Finding) error {
		o := &group[indexed[f.Clip]]
		o.findings = append(o.findings, f)
		return nil
	})
	return group, err
}

// loadClip loads clip i and checks that it can be searched for. It returns exact.ErrLongerThanEpisode if the clip
// has more samples than the episode.
func (a *attempt) loadClip(ctx context.Context, i, episode int) ([]float32, error) {
	wave, err := a.handler.loadSamples(ctx, &a.media[i])
	if err == nil {
		err = exact.Check(wave)
	}
	if err == nil && len(wave) > episode {
		err = exact.ErrLongerThanEpisode
	}
	return wave, err
}

// searchFails ends the task after an error of search. errChanged is returned as it is, because
// research tries again then; for others it calls failEpisode and returns its error, nil if the task
// was resolved.
func (a *attempt) searchFails(ctx context.Context, err error) error {
	if errors.Is(err, errChanged) {
		return err
	}
	return a.failEpisode(ctx, err)
}

// rewind starts again with the first clip. Results that were put before are put again.
func (a *attempt) rewind() {
	a.next, a.passing = 0, nil
}
