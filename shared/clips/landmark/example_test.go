package landmark_test

import (
	"fmt"

	"leasehold/shared/clips/landmark"
)

func ExampleOf() {
	sound := noise(1, 2*rate, .1)
	late := append(make([]float32, 640), sound...) // 80 ms later, which is 10 frames
	there := map[landmark.Landmark]bool{}
	for _, l := range landmark.Of(late) {
		there[l] = true
	}
	all, same := landmark.Of(sound), 0
	for _, l := range all {
		if there[landmark.Landmark{Hash: l.Hash, Frame: l.Frame + 10}] {
			same++
		}
	}
	fmt.Println(same > len(all)*9/10)
	// Output: true
}
