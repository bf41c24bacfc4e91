package exact_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"leasehold/shared/clips/exact"
)

var (
	benchEpisode = flag.Duration("episode", time.Minute, "length of BenchmarkFind's episode")
	benchClips   = flag.Int("clips", 16, "number of BenchmarkFind's clips")
)

// BenchmarkFind searches for clips of 0.5 to 15 s, most of them short, in an episode that has
// none of them. The measurement of an hour is
//
//	go test -run '^$' -bench Find -benchtime 1x ./shared/clips/exact -args -episode 1h -clips 100
func BenchmarkFind(b *testing.B) {
	episode := exact.Samples(noise(9, int(benchEpisode.Seconds()*exact.RateHz), .1))
	r := rand.New(rand.NewPCG(1, 2))
	var clips []exact.Clip
	for i := range *benchClips {
		seconds := .5 * (1 + r.ExpFloat64()*6)
		clips = append(clips, loaded(fmt.Sprint(i), noise(uint64(100+i), int(min(seconds, 15)*exact.RateHz), .1)))
	}
	var first time.Duration
	for b.Loop() {
		start := time.Now()
		first = 0
		err := exact.Find(context.Background(), episode, clips, exact.Options{}, func(r exact.Result) error {
			if first == 0 {
				first = time.Since(start)
			}
			return r.Err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(first.Seconds(), "s-to-first")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(*benchClips)/benchEpisode.Hours(), "s/clip-hour")
}

// BenchmarkStream searches the same noise for tones of 0.3 to 1.3 s, which have too few landmarks
// for any other search:
//
//	go test -run '^$' -bench Stream -benchtime 1x ./shared/clips/exact -args -episode 1h -clips 100
func BenchmarkStream(b *testing.B) {
	episode := exact.Samples(noise(9, int(benchEpisode.Seconds()*exact.RateHz), .1))
	r := rand.New(rand.NewPCG(1, 2))
	var clips []exact.Clip
	for i := range *benchClips {
		clips = append(clips, loaded(fmt.Sprint(i), tones(int((.3+r.Float64())*exact.RateHz), 60+1200*r.Float64(), 60+3000*r.Float64())))
	}
	for b.Loop() {
		set, err := exact.NewSet(b.Context(), clips)
		if err == nil {
			err = set.NewStream(exact.Options{}, byDefault).Close(b.Context(), episode, len(episode), func(exact.Window) {})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(*benchClips)/benchEpisode.Hours(), "s/clip-hour")
}
