package cmd

import (
	"io"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// tellResting writes which origins rest and until when, one line for each kind, and how to visit them all the
// same.
func (a *app) tellResting(w io.Writer, resting []types.Schedule, now time.Time) error {
	byNoun := map[string][]types.Schedule{}
	var nouns []string
	for _, s := range resting {
		noun := restingNoun(s.Kind)
		if byNoun[noun] == nil {
			nouns = append(nouns, noun)
		}
		byNoun[noun] = append(byNoun[noun], s)
	}
	for _, noun := range nouns {
		all := byNoun[noun]
		first := all[0]
		for _, s := range all {
			if s.Until.Before(first.Until) {
				first = s
			}
		}
		verb := "rests until"
		if len(all) > 1 {
			verb = "rest, the first until"
		}
		_, err := sayf(w, "%s %s %s; `leasehold origin save-now %s --force%s` visits it now (%s)\n",
			count(len(all), noun), verb, clockTime(first.Until, now), shellWord(first.URI), a.dataFlag(), restReason(first))
		if err != nil {
			return err
		}
	}
	return nil
}

// restingNoun is the word for an origin of a kind that rests.
func restingNoun(kind models.OriginKind) string {
	switch {
	case kind == models.Feed:
		return "feed"
	case kind.Info().Flow == models.IndexFlow:
		return "repository"
	}
	return "origin"
}

// clockTime formats a time in the zone of this machine, with the date if that is not today.
func clockTime(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
