package match

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
)

const maxGroup = 64 // bounds memory; more would save nothing

// Find looks for all clips in the episode, and calls report once for each, in
// their order, as soon as its group is done. It returns nil when all are reported;
// else ctx's cause, the episode's error of reading, or what report returned, which
// ends it. Options outside their ranges are fault.ErrInvalid. Clips with equal
// samples get a result each.
func Find(ctx context.Context, episode Source, clips []Clip, o Options, report func(Result) error) error {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.Group == 0 {
		o.Group = DefaultGroup
	}
	if !(o.Threshold > 0 && o.Threshold < 1) || o.Group < 1 || o.Group > maxGroup {
		return fmt.Errorf("match.Find with threshold %v and groups of %d: expected 0 to 1, and 1 to %d: %w",
			o.Threshold, o.Group, maxGroup, fault.ErrInvalid)
	}
	for len(clips) > 0 {
		n := min(o.Group, len(clips))
		results, err := findGroup(ctx, episode, clips[:n], o.Threshold)
		if err != nil {
			return err
		}
		for _, r := range results {
			if err := report(r); err != nil {
				return err
			}
		}
		clips = clips[n:]
	}
	return nil
}

func findGroup(ctx context.Context, episode Source, clips []Clip, threshold float64) ([]Result, error) {
	results := make([]Result, len(clips))
	var group []*template
	var index []int // of each in results
	longest := 0
	for i, c := range clips {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		results[i] = Result{ID: c.ID, GroupEnds: i == len(clips)-1}
		t, err := load(ctx, c, episode.Len())
		if err != nil {
			results[i].Err = err
			continue
		}
		group, index, longest = append(group, t), append(index, i), max(longest, len(t.wave))
	}
	if len(group) == 0 {
		return results, nil
	}
	if err := newScanner(longest, episode.Len()).scan(ctx, episode, group, threshold); err != nil {
		return nil, err
	}
	for g, t := range group {
		matches, err := t.verify(episode, t.settle(threshold))
		if err != nil {
			return nil, err
		}
		results[index[g]].Matches = matches
	}
	return results, nil
}

func load(ctx context.Context, c Clip, episode int) (*template, error) {
	wave, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	return newTemplate(c.ID, wave, episode)
}
