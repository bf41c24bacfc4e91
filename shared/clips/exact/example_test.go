package exact_test

import (
	"context"
	"fmt"

	"leasehold/shared/clips/exact"
)

func ExampleFind() {
	jingle := noise(1, 2*exact.RateHz, .1)
	episode := noise(2, 60*exact.RateHz, .02)
	mix(episode, jingle, 12*exact.RateHz, .5) // at half its level
	clips := []exact.Clip{{ID: "jingle", Load: func(context.Context) ([]float32, error) { return jingle, nil }}}
	err := exact.Find(context.Background(), exact.Samples(episode), clips, exact.Options{}, func(r exact.Result) error {
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
