package match_test

import (
	"context"
	"fmt"

	"leasehold/shared/audio/match"
)

func ExampleFind() {
	jingle := noise(1, 2*match.RateHz, .1)
	episode := noise(2, 60*match.RateHz, .02)
	mix(episode, jingle, 12*match.RateHz, .5) // at half its level
	clips := []match.Clip{{ID: "jingle", Load: func(context.Context) ([]float32, error) { return jingle, nil }}}
	err := match.Find(context.Background(), memory(episode), clips, match.Options{}, func(r match.Result) error {
		for _, m := range r.Matches {
			fmt.Println(r.ID, "at", m.Start(), "for", m.Duration())
		}
		return r.Err
	})
	fmt.Println(err)
	// Output:
	// jingle at 12s for 2s
	// <nil>
}
