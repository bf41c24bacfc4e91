package autoscale

import "time"

// MostWorkers is the largest Max.
const MostWorkers = 10_000

// Scaler decides how many workers there shall be. It grows at once, by at most doubling, and waits for the workers of
// a step before the next one. It shrinks only if a fifth fewer were enough for a while, by at most half, so that a
// queue that comes and goes does not start and end workers each time.
type Scaler struct {
	Min, Max int           // of workers; 0 to Max
	Settle   time.Duration // how long the workers of a step may take to connect
	Calm     time.Duration // for how long fewer must have been enough before any end

	began   time.Time // of the first step
	seen    []sample  // within Calm, the oldest first
	ordered int       // by the last step that added workers
	grew    time.Time // when that was
}

// sample is how many workers were wanted at a time.
type sample struct {
	at     time.Time
	wanted int
}

// Step returns how many workers there shall be, from the number of workers now and the number that the queue wants. It must be called with
// growing times.
func (s *Scaler) Step(now time.Time, workers, wanted int) int {
	if s.began.IsZero() {
		s.began = now
	}
	wanted = min(max(wanted, s.Min), s.Max)
	most := s.remember(now, wanted)
	switch {
	case wanted > workers:
		if workers < s.ordered && now.Sub(s.grew) < s.Settle {
			return workers
		}
		s.ordered, s.grew = min(wanted, max(2*workers, workers+1)), now
		return s.ordered
	case workers > s.Max:
		return s.Max
	case workers > 0 && 5*most <= 4*workers && now.Sub(s.began) >= s.Calm:
		return max(most, workers-max(1, workers/2))
	}
	return workers
}

// remember adds a sample, and returns the most workers that were wanted within Calm.
func (s *Scaler) remember(now time.Time, wanted int) (most int) {
	s.seen = append(s.seen, sample{now, wanted})
	for now.Sub(s.seen[0].at) > s.Calm {
		s.seen = s.seen[1:]
	}
	for _, x := range s.seen {
		most = max(most, x.wanted)
	}
	return most
}
