package visits

import (
	"leasehold/models"
	"leasehold/shared/process/wording"
)

// PostgreSQL refuses texts with NUL or invalid UTF-8, and indexes none of more than 2,700 bytes. Feeds, servers and
// managers may send both, and one outcome that cannot be stored would stop all that come after it. So outcomes are
// made storable, and bounded where an index needs that, before anything is done with them.

const (
	// longestHost is how long the name of a host may be, with its port.
	longestHost = 300
	// longestVisit is how many bytes of the id of a visit are kept; ours are shorter.
	longestVisit = 200
)

// hostOf returns the host of a URI as the tables have it. It cuts one too long for a name.
func hostOf(uri string) string {
	return bounded(models.HostOf(uri), longestHost)
}

// bounded returns the storable text of at most so many bytes of s.
func bounded(s string, bytes int) string {
	s = wording.Storable(s)
	if len(s) <= bytes {
		return s
	}
	return wording.Storable(s[:bytes-2]) // half a character at the end becomes one of three bytes
}

// storable returns an outcome whose texts can be stored. A validator that cannot is none.
func storable(o models.Outcome) models.Outcome {
	o.Visit = bounded(o.Visit, longestVisit)
	for _, text := range []*string{(*string)(&o.Status), &o.Error, &o.Digest, &o.Answered} {
		*text = wording.Storable(*text)
	}
	for _, validator := range []*string{&o.ETag, &o.Modified} {
		if !wording.IsStorable(*validator) {
			*validator = ""
		}
	}
	if o.Hub != nil && !(wording.IsStorable(o.Hub.URL) && wording.IsStorable(o.Hub.Topic)) {
		o.Hub = nil
	}
	if o.Move != nil {
		move := models.Move{To: wording.Storable(o.Move.To), Answers: o.Move.Answers, Problem: wording.Storable(o.Move.Problem)}
		o.Move = &move
	}
	return o
}
