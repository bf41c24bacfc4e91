package match_test

import (
	"context"
	"fmt"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

func ExampleFind() {
	jingle := noise(1, 2*match.RateHz, .1)
	episode := noise(2, 60*match.RateHz, .02)
	mix(episode, jingle, 12*match.RateHz, .5) // at half its level
	var b index.Builder
	if err := b.Add("jingle", jingle); err != nil {
		fmt.Println(err)
	}
	clips, err := b.Build()
	if err != nil {
		fmt.Println(err)
	}
	err = match.Find(context.Background(), clips, &stream{episode, 4000}, match.Options{}, func(f match.Finding) error {
		fmt.Println(f.ID, "at", f.Start(), "for", f.Duration(), "by", f.How)
		return nil
	})
	fmt.Println(err)
	// Output:
	// jingle at 12s for 2s by waveform
	// <nil>
}
