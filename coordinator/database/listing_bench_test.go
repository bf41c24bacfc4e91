package database

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// BenchmarkListing lists 50,000 origins on 30 hosts in slices of a lister's visit: sorted by id, as
// the managers' listers name them, also while another goroutine claims 40 visits and records their
// outcomes in a loop; and unsorted, as programs may push them. It
// reports how many seconds that took, the bytes written for each origin (by this process, to the
// log and to the file until it is closed, the visits included, where /proc tells), how many visits ended meanwhile, and how long a
// claim took (ms, p50 and the maximum).
//
//	go test ./coordinator/database -run '^$' -bench Listing -benchtime 1x
func BenchmarkListing(b *testing.B) {
	const origins, hosts = 50_000, 30
	for _, c := range []struct {
		name             string
		sorted, visiting bool
	}{{"sorted", true, false}, {"sorted-with-visits", true, true}, {"unsorted", false, false}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				benchmarkListing(b, hostedFeeds(origins, hosts, c.sorted), c.visiting)
			}
		})
	}
}

// hostedFeeds returns feeds on hosts, sorted by id or in another order.
func hostedFeeds(origins, hosts int, sorted bool) (all []visits.Named) {
	for i := range origins {
		uri := fmt.Sprintf("http://127.0.0.%d:8000/feeds/number-%d.xml", i%hosts+1, i)
		all = append(all, visits.Named{Origin: models.Origin{ID: models.NewID("feed", uri), Kind: models.Feed, URI: uri, Listed: true}})
	}
	if sorted {
		slices.SortFunc(all, func(a, b visits.Named) int { return cmp.Compare(a.ID, b.ID) })
	}
	return all
}

func benchmarkListing(b *testing.B, all []visits.Named, visiting bool) {
	d, err := Open(b.Context(), filepath.Join(b.TempDir(), "catalog.db"), "value", policy.DefaultRules())
	require.NoError(b, err)
	defer d.Close() // again, if it fails before the end
	_, err = d.Catalog.AddOrigin(b.Context(), models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"})
	require.NoError(b, err)
	ctx, stop := context.WithCancel(b.Context())
	var took []float64
	claims, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for visiting && ctx.Err() == nil {
			began := time.Now()
			claimed, err := d.Visits.Claim(ctx, began, 40)
			if err != nil {
				return
			}
			took = append(took, float64(time.Since(began).Microseconds())/1000)
			var outcomes []models.Outcome
			for _, v := range claimed {
				outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful, At: time.Now(), Digest: "d"})
			}
			if _, err = d.Visits.Record(ctx, time.Now(), outcomes); err != nil {
				return
			}
			claims += len(claimed)
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	before, began := written(), time.Now()
	for from := 0; from < len(all); from += models.MaxListed {
		l := visits.Listing{Lister: "lister", From: from, Next: from + models.MaxListed, Origins: all[from:min(from+models.MaxListed, len(all))]}
		if l.Next >= len(all) {
			l.Next, l.Full = 0, true
		}
		require.NoError(b, d.Visits.List(b.Context(), time.Now(), l))
	}
	b.ReportMetric(time.Since(began).Seconds(), "s-listing")
	stop()
	<-done
	b.ReportMetric(float64(claims), "visits")
	b.ReportMetric(float64(d.file.LongestWrite().Microseconds())/1000, "ms-writer")
	require.NoError(b, d.Close())
	b.ReportMetric(float64(written()-before)/float64(len(all)), "B-written/origin")
	if len(took) > 0 {
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2], "ms-claim-p50")
		b.ReportMetric(took[len(took)-1], "ms-claim-max")
	}
}

// written is how many bytes this process has written to files; 0 if unknown.
func written() int64 {
	text, _ := os.ReadFile("/proc/self/io")
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			bytes, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			return bytes
		}
	}
	return 0
}
