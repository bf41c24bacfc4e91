package set

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
)

// related is the correlation from which on two clean recordings count as the same sound.
// It is lower for music, because parts of music recur under others. It is higher for
// speech, because different short phrases of one voice correlate up to 0.54.
var related = map[Kind]float64{Speech: .6, Effect: .6, Music: .5}

// occurrences finds each clip, all of one kind, in the episode by exact correlation, on all cores.
// Element i of the result has the matches of clip i.
func occurrences(ctx context.Context, clips []candidate, episode exact.Samples) ([][]exact.Match, error) {
	found := make([][]exact.Match, len(clips))
	if len(clips) == 0 || len(episode) == 0 {
		return found, nil
	}
	share := (len(clips) + runtime.NumCPU() - 1) / runtime.NumCPU()
	errs := make([]error, 0, runtime.NumCPU())
	var wg sync.WaitGroup
	for part := range slices.Chunk(indices(len(clips)), share) {
		errs = append(errs, nil)
		err := &errs[len(errs)-1]
		wg.Go(func() { *err = search(ctx, clips, part, episode, found) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// search looks for the clips with the indices in part, and stores their matches in found, where
// each search has elements of its own, so no lock is needed. exact.Find reports the clips in their
// order.
func search(ctx context.Context, clips []candidate, part []int, episode exact.Samples, found [][]exact.Match) error {
	var list []exact.Clip
	for _, i := range part {
		list = append(list, exact.Clip{ID: clips[i].ID, Load: func(context.Context) ([]float32, error) { return clips[i].wave, nil }})
	}
	next := 0
	return exact.Find(ctx, episode, list, exact.Options{Threshold: related[clips[0].Kind]}, func(r exact.Result) error {
		found[part[next]] = r.Matches
		next++
		return nil
	})
}

// indices returns 0 to n-1.
func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// withoutBackgrounds leaves out the clips that are found in the background of their kind.
func withoutBackgrounds(ctx context.Context, clips []candidate, background exact.Samples) ([]candidate, error) {
	found, err := occurrences(ctx, clips, background)
	if err != nil {
		return nil, err
	}
	var clean []candidate
	for i, c := range clips {
		if len(found[i]) == 0 {
			clean = append(clean, c)
		}
	}
	return clean, nil
}

// relate finds each clip within the others, and gives related clips the same class. All clips, with
// gaps between them, are one episode, so that each is searched for once; the middle of a match
// tells which clip it is in. Each is found within itself too; that is left out.
func relate(ctx context.Context, candidates []candidate) ([]Relation, error) {
	const gap = clips.RateHz / 2
	var all exact.Samples
	starts := make([]int, len(candidates))
	for i, c := range candidates {
		starts[i] = len(all)
		all = append(append(all, c.wave...), make([]float32, gap)...)
	}
	found, err := occurrences(ctx, candidates, all)
	if err != nil {
		return nil, err
	}
	var relations []Relation
	for i, c := range candidates {
		for _, m := range found[i] {
			at := m.Offset + m.Length/2
			j, there := slices.BinarySearch(starts, at)
			if !there {
				j--
			}
			if j == i {
				continue
			}
			relations = append(relations, Relation{
				Clip: c.ID, Within: candidates[j].ID, OffsetS: seconds8k(m.Offset - starts[j]), Score: math.Round(m.Score*1000) / 1000,
			})
			merge(candidates, c.Class, candidates[j].Class)
		}
	}
	return relations, nil
}

// merge makes two classes one, by the lesser of their names.
func merge(candidates []candidate, a, b string) {
	for i := range candidates {
		if candidates[i].Class == max(a, b) {
			candidates[i].Class = min(a, b)
		}
	}
}
