package research

import (
	"context"
	"errors"
	"time"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/match"
	"leasehold/shared/failpoint"
)

// groupSamples bounds the clips of a group, together: 20 minutes.
const groupSamples = 20 * 60 * match.RateHz

// outcome is what is known of one clip.
type outcome struct {
	findings []match.Finding
	err      error
	last     bool // of its group
}

// do is one try of the task.
func (a *attempt) do(ctx context.Context) error {
	began := time.Now()
	failpoint.Reached("research.fetch", "")
	e, err := a.h.open(ctx, &a.episode)
	if err != nil {
		return a.episodeFails(ctx, err)
	}
	defer func() { _ = e.Close() }() // it is read-only by now
	if len(a.task.Clips) == 0 {
		return a.job.Resolve(ctx, a.task.Episode.ID, a.result())
	}
	opened := time.Since(began)
	failpoint.Reached("research.run", "")
	for a.next < len(a.task.Clips) {
		group, err := a.search(ctx, e)
		if err != nil {
			return a.searchFails(ctx, err)
		}
		if a.next+len(group) == len(a.task.Clips) {
			a.tell(ctx, e, opened, time.Since(began)-opened)
		}
		for _, o := range group {
			if err := a.found(ctx, o); err != nil {
				return resolved(err)
			}
		}
	}
	return nil
}

func resolved(err error) error {
	if errors.Is(err, errResolved) {
		return nil
	}
	return err
}

// search does the next group of clips.
func (a *attempt) search(ctx context.Context, e *episode) ([]outcome, error) {
	var b index.Builder
	var group []outcome
	var indexed []int // where in the group each clip of the index is
	total := 0
	for i := a.next; i < len(a.task.Clips) && len(group) < a.h.opt.Group && total < groupSamples; i++ {
		wave, err := a.clip(ctx, i, e.Samples)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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
	err = match.FindKnown(ctx, x, known, a.h.opt.Match, func(f match.Finding) error {
		o := &group[indexed[f.Clip]]
		o.findings = append(o.findings, f)
		return nil
	})
	return group, err
}

// clip loads a clip to look for in an episode of so many samples.
func (a *attempt) clip(ctx context.Context, i, episode int) ([]float32, error) {
	wave, err := a.h.load(ctx, &a.media[i])
	if err == nil {
		err = exact.Check(wave)
	}
	if err == nil && len(wave) > episode {
		err = exact.ErrLongerThanEpisode
	}
	return wave, err
}

// searchFails ends the task: it is the episode that could not be read.
func (a *attempt) searchFails(ctx context.Context, err error) error {
	if errors.Is(err, errChanged) {
		return err
	}
	return a.episodeFails(ctx, err)
}

// rewind begins anew.
func (a *attempt) rewind() {
	a.next, a.passing = 0, nil
}
