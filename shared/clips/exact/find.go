package exact

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
)

const (
	maxGroup = 64 // more would save nothing
	// maxSpectra bounds the spectra of a group, in bytes: sixteen clips of 15 s, or
	// two of MaxClip. A group that reaches it is not filled further.
	maxSpectra = 16 << 20

	// spectrumBytes is the size of a clip's spectrum for each sample of a block: a complex64
	// for every two.
	spectrumBytes = 4
)

// Find searches one episode with a Finder of its own.
func Find(ctx context.Context, episode Source, clips []Clip, o Options, report func(Result) error) error {
	var f Finder
	return f.Find(ctx, episode, clips, o, report)
}

// A Finder keeps its buffers and tables from one episode to the next: some 50 bytes for
// each sample of the longest block. It is for one goroutine; its zero value is ready.
type Finder struct{ scanners map[int]*scanner } // by the length of their blocks, a power of two

// Find searches the episode for all clips, and calls report once for each, in their order, as soon
// as its group is done. It returns nil when all are reported; else ctx's cause, the episode's error
// of reading, or the error of report, which ends the search. Options outside their ranges give
// fault.ErrInvalid. Clips with equal samples get a result each.
func (f *Finder) Find(ctx context.Context, episode Source, clips []Clip, o Options, report func(Result) error) error {
	o = o.withDefaults()
	if !(o.Threshold > 0 && o.Threshold < 1) || o.Group < 1 || o.Group > maxGroup {
		return fmt.Errorf("exact.Find with threshold %v and groups of %d: expected 0 to 1, and 1 to %d: %w",
			o.Threshold, o.Group, maxGroup, fault.ErrInvalid)
	}
	for len(clips) > 0 {
		results, err := f.group(ctx, episode, clips[:min(o.Group, len(clips))], o.Threshold)
		if err != nil {
			return err
		}
		for _, r := range results {
			if err := report(r); err != nil {
				return err
			}
		}
		clips = clips[len(results):]
	}
	return nil
}

// group searches for the first of the clips, as many as a group holds, and returns their results:
// at least one. A clip that cannot be loaded has its error in its result; the returned error ends
// the search.
func (f *Finder) group(ctx context.Context, episode Source, clips []Clip, threshold float64) ([]Result, error) {
	var results []Result
	var templates []*template
	var index []int // of each in results
	longest := 0
	for _, c := range clips {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, err := load(ctx, c, episode.Len())
		results = append(results, Result{ID: c.ID, Err: err})
		if err != nil {
			continue
		}
		templates, index, longest = append(templates, t), append(index, len(results)-1), max(longest, len(t.wave))
		if len(templates)*blockLength(longest, episode.Len())*spectrumBytes >= maxSpectra {
			break
		}
	}
	results[len(results)-1].GroupEnds = true
	if len(templates) == 0 {
		return results, nil
	}
	s := f.scannerFor(longest, episode.Len())
	if err := s.scan(ctx, episode, templates, threshold); err != nil { // fills places of each template
		return nil, err
	}
	for i, t := range templates {
		matches, err := t.verify(episode, t.dedupe(s.fft, threshold))
		if err != nil {
			return nil, err
		}
		results[index[i]].Matches = matches
	}
	return results, nil
}

// scannerFor returns a scanner for clips of at most longest samples in an episode of so many,
// with the hop of that length. It makes it at the first use of its block length and keeps it.
func (f *Finder) scannerFor(longest, episode int) *scanner {
	n := blockLength(longest, episode)
	s := f.scanners[n]
	if s == nil {
		if f.scanners == nil {
			f.scanners = map[int]*scanner{}
		}
		s = newScanner(n)
		f.scanners[n] = s
	}
	s.hop = n - longest + 1
	return s
}

// load loads a clip for an episode of so many samples.
func load(ctx context.Context, c Clip, episode int) (*template, error) {
	wave, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	return newTemplate(c.ID, wave, episode)
}
