package visits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// 60 hosts that redirect to one got as many visits at once as there were slots.
func TestOriginsThatOneHostAnswersShareItsLimits(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.Cooldown, r.HostShare = 0, 1 })
	var hosts []string
	for n := range 60 {
		hosts = append(hosts, fmt.Sprintf("h%d", n))
	}
	list(t, s, noon, visits.Listing{Origins: feeds(hosts...)})
	at := noon
	first := claim(t, s, at, 60)
	require.Len(t, first, 60, "nothing is known of the host that answers")
	require.Equal(t, 4, first[0].HostSlots)
	delay := models.Seconds(20)
	for n, v := range first {
		o := outcome(v, at, models.Eventful, "a")
		o.Answered = "http://cdn.example:80"
		if n == 0 {
			o.CrawlDelay = &delay
		}
		record(t, s, at, o)
	}
	at = at.Add(time.Hour)
	next := claim(t, s, at, 60)
	require.Len(t, next, 1, "the Crawl-delay of the host that answers")
	none := models.Seconds(0)
	o := outcome(next[0], at, models.Uneventful, "a")
	o.Answered, o.CrawlDelay = "http://cdn.example", &none
	record(t, s, at, o)
	at = at.Add(time.Minute)
	require.Len(t, claim(t, s, at, 1), 1)
	// Claims of one batch are a gap apart, so the limit of visits at once takes several.
	total := 1
	for range 10 {
		at = at.Add(2 * time.Second)
		total += len(claim(t, s, at, 60))
	}
	require.Equal(t, 4, total)
}

func TestAnOriginWhoseRedirectEndsCountsForItsOwnHostAgain(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.Cooldown = 0 })
	list(t, s, noon, visits.Listing{Origins: feeds("a", "b")})
	visitAll := func(at time.Time, answered string) int {
		all := claim(t, s, at, 10)
		for _, v := range all {
			o := outcome(v, at, models.Eventful, "a")
			o.Answered = answered
			if answered == "own" {
				o.Answered = "http://" + models.HostOf(v.Origin.URI)
			}
			record(t, s, at, o)
		}
		return len(all)
	}
	at := noon
	for _, step := range []struct {
		answered string
		visits   int
	}{{"http://c", 2}, {"", 1}, {"", 1}, {"own", 1}, {"own", 2}, {"own", 2}} {
		require.Equal(t, step.visits, visitAll(at, step.answered), step)
		at = at.Add(2 * time.Second)
	}
}
