package exact

import "context"

// StreamWindow is how many samples of a stream are searched at a time, 16 s: long enough for a
// window, which overlaps its neighbours by the longest clip on either side, to be mostly its own
// for clips of some seconds; short enough for findings to come in less than half a minute.
const StreamWindow = 1 << 17

// Stream searches a sound that becomes readable bit by bit, in windows. In each it screens all
// clips first, and searches for those that may begin there as Find does. Windows begin at
// multiples of StreamWindow, so that matches do not depend on the pieces in which the sound
// comes. It is for one goroutine.
type Stream struct {
	clips   []Clip
	options Options
	screen  *screen
	finder  Finder
	longest int // samples of any clip
	done    int
}

// NewStream returns a Stream at the beginning of a sound. It calls Load of each clip once now, for
// the screen, and again in each window where the clip may begin. The error is that of Load.
func NewStream(ctx context.Context, clips []Clip, o Options) (*Stream, error) {
	s := &Stream{clips: clips, options: o.withDefaults()}
	var waves [][]float32
	for _, c := range clips {
		wave, err := c.Load(ctx)
		if err != nil {
			return nil, err
		}
		waves = append(waves, wave)
		s.longest = max(s.longest, len(wave))
	}
	s.screen = newScreen(waves, s.options.Threshold)
	return s, nil
}

// Window is the result of the search for one clip in one window.
type Window struct {
	Clip     int     // its index in the list that NewStream was called with
	From, To int     // samples of the sound between which the matches begin
	Matches  []Match // at least one; their offsets count from the beginning of the sound
}

// Done is the sample before which all beginnings are known.
func (s *Stream) Done() int { return s.done }

// Needed is the first sample that may still be read.
func (s *Stream) Needed() int { return s.done - s.longest }

// Advance searches all windows that are complete in a sound that can be read up to the sample end.
// It calls report for each window and clip with matches. The error is ctx's cause, or that of
// reading the sound.
func (s *Stream) Advance(ctx context.Context, sound Sound, end int, report func(Window)) error {
	for s.done+StreamWindow+2*s.longest <= end {
		if err := s.window(ctx, sound, s.done+StreamWindow, s.done+StreamWindow+2*s.longest, report); err != nil {
			return err
		}
	}
	return nil
}

// Close searches the rest of a sound that ends at the sample end.
func (s *Stream) Close(ctx context.Context, sound Sound, end int, report func(Window)) error {
	if err := s.Advance(ctx, sound, end, report); err != nil {
		return err
	}
	return s.window(ctx, sound, end+1, end, report)
}

// window reports the matches that begin from done to before the sample before, in a sound that
// ends at the sample end, and sets done to before.
func (s *Stream) window(ctx context.Context, sound Sound, before, end int, report func(Window)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	may, err := s.screen.search(sound, s.done-s.longest/2, before, end)
	if err != nil {
		return err
	}
	var clips []Clip
	var numbers []int
	for i, m := range may {
		if m {
			clips, numbers = append(clips, s.clips[i]), append(numbers, i)
		}
	}
	from := max(0, s.done-s.longest)
	next := 0
	err = s.finder.Find(ctx, section{sound, from, end - from}, clips, s.options, func(r Result) error {
		w := Window{Clip: numbers[next], From: s.done, To: min(before, end)}
		next++
		for _, m := range r.Matches { // a clip with a fault has none
			m.Offset += from
			if m.Offset >= s.done && m.Offset < before {
				w.Matches = append(w.Matches, m)
			}
		}
		if len(w.Matches) > 0 {
			report(w)
		}
		return nil
	})
	s.done = before
	return err
}

// section is a part of a sound, as an episode of its own.
type section struct {
	sound     Sound
	from, len int
}

func (s section) Len() int { return s.len }

func (s section) ReadAt(dst []float32, offset int) error { return s.sound.ReadAt(dst, s.from+offset) }
