package exact

import (
	"context"
	"slices"
)

// StreamWindow is how many samples of a stream are searched at a time, 16 s: long enough for a
// window, which overlaps its neighbours by the longest clip on either side, to be mostly its own
// for clips of some seconds; short enough for findings to come in less than half a minute.
const StreamWindow = 1 << 17

// leastAround is how much of the sound before and after a window is searched with it at least, 2 s: in
// a tone that goes on, the matches of a short clip then lie close together from the window's start on,
// by which the caller recognises them (TestAMonotonousEpisodeIsNoFlood in package match; without it, eleven findings).
const leastAround = 2 * RateHz

// Stream searches a sound that becomes readable bit by bit, in windows. In each it screens all
// clips first, and searches for those that may begin there as Find does. Windows begin at
// multiples of StreamWindow, so that matches do not depend on the pieces in which the sound
// comes. It is for one goroutine.
type Stream struct {
	clips   []prepared
	options Options
	screens []*screen // by the lengths of their blocks
	always  []int     // the clips that are not screened
	samples []float32 // of the window and around it
	sums    sums      // of samples
	finder  Finder
	longest int // samples of any clip in the search, at least leastAround
	done    int
}

// NewStream returns a Stream at the beginning of a sound. It may leave out a window of clip i in which no match has
// the score least(i). It does not search for a clip with a fault (Check), because Find would report no match of it.
func (s *Set) NewStream(o Options, least func(clip int) float64) *Stream {
	x := &Stream{clips: s.clips, options: o.withDefaults(), longest: leastAround}
	for i := range s.clips {
		c := &s.clips[i]
		switch {
		case c.faulty:
			continue
		case c.block > 0:
			x.screenOf(c.block).include(i, &c.outline, least(i), c.Load)
		default:
			x.always = append(x.always, i)
		}
		x.longest = max(x.longest, c.samples)
	}
	return x
}

// screenOf returns the screen with a block of n samples, and makes it if there is none yet.
func (s *Stream) screenOf(n int) *screen {
	for _, x := range s.screens {
		if len(x.samples) == n {
			return x
		}
	}
	s.screens = append(s.screens, newScreen(n))
	return s.screens[len(s.screens)-1]
}

// Window is the result of the search for one clip in one window.
type Window struct {
	Clip     int     // its number in the Set
	From, To int     // samples of the sound between which the matches begin
	Matches  []Match // at least one; their offsets count from the beginning of the sound
}

// Done is the sample before which all beginnings are known.
func (s *Stream) Done() int { return s.done }

// Needed is the first sample that may still be read.
func (s *Stream) Needed() int { return s.done - s.longest }

// Advance searches all windows that are complete in a sound that can be read up to the sample end.
// It calls report for each window and clip with matches.
func (s *Stream) Advance(ctx context.Context, sound Sound, end int, report func(Window)) error {
	for s.done+StreamWindow+2*s.longest <= end {
		if err := s.window(ctx, sound, s.done+StreamWindow, s.done+StreamWindow+2*s.longest, report); err != nil {
			return err
		}
	}
	return nil
}

// Close searches the rest of a sound that ends at the sample end. The error is as of Advance. The
// Stream must not be used afterwards.
func (s *Stream) Close(ctx context.Context, sound Sound, end int, report func(Window)) error {
	if err := s.Advance(ctx, sound, end, report); err != nil {
		return err
	}
	return s.window(ctx, sound, end+1, end, report)
}

// window reports the matches that begin from done to before the sample before, in a sound that
// ends at the sample end, and sets done to before. The screens choose the clips to search for.
// After an error done stays, and the Stream must not be used.
func (s *Stream) window(ctx context.Context, sound Sound, before, end int, report func(Window)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	may := slices.Clone(s.always)
	if err := s.sum(sound, before); err != nil {
		return err
	}
	for _, x := range s.screens {
		clips, err := x.search(ctx, sound, &s.sums, s.done, before, end)
		if err != nil {
			return err
		}
		may = append(may, clips...)
	}
	for _, clip := range may {
		// If another clip makes the rest long, this clip still has the windows that it has alone.
		from, reach := s.done, StreamWindow+2*s.around(clip)
		for ; from+StreamWindow < before && from+reach <= end; from += StreamWindow {
			if err := s.find(ctx, sound, clip, from, from+StreamWindow, end, report); err != nil {
				return err
			}
		}
		if err := s.find(ctx, sound, clip, from, before, end, report); err != nil {
			return err
		}
	}
	s.done = before
	return nil
}

// around is how many samples before a window are searched for a clip too, and half of those behind it.
func (s *Stream) around(clip int) int { return max(s.clips[clip].samples, leastAround) }

// sum computes the sums of the samples that the screens need for a window, which they share.
func (s *Stream) sum(sound Sound, before int) error {
	if len(s.screens) == 0 {
		return nil
	}
	first, last := s.done, before
	for _, x := range s.screens {
		f, l := x.reads(s.done, before)
		first, last = min(first, f), max(last, l)
	}
	s.samples = slices.Grow(s.samples[:0], last-first)[:last-first]
	if err := sound.ReadAt(s.samples, first); err != nil {
		return err
	}
	s.sums.set(s.samples, first)
	return nil
}

// find reports the matches of one clip that begin from one sample to before another. It searches a
// part that depends on that clip alone, so that the matches do too. It does not report a clip that
// has a fault, or no match that begins in the window.
func (s *Stream) find(ctx context.Context, sound Sound, clip, from, before, end int, report func(Window)) error {
	first, last := max(0, from-s.around(clip)), min(end, before+2*s.around(clip))
	return s.finder.Find(ctx, section{sound, first, last - first}, []Clip{s.clips[clip].Clip}, s.options, func(r Result) error {
		w := Window{Clip: clip, From: from, To: min(before, end)}
		for _, m := range r.Matches { // a clip with a fault has none
			m.Offset += first
			if m.Offset >= from && m.Offset < before {
				w.Matches = append(w.Matches, m)
			}
		}
		if len(w.Matches) > 0 {
			report(w)
		}
		return nil
	})
}

// section is a part of a sound, as an episode of its own. Around it is silence, because the sound may be forgotten
// before it, or still to come after it, and rounding in a block would depend on that.
type section struct {
	sound     Sound
	from, len int
}

func (s section) Len() int { return s.len }

func (s section) ReadAt(dst []float32, offset int) error {
	first, last := min(max(0, -offset), len(dst)), max(0, min(s.len-offset, len(dst)))
	clear(dst[:first])
	clear(dst[last:])
	if first >= last {
		return nil
	}
	return s.sound.ReadAt(dst[first:last], s.from+offset+first)
}
