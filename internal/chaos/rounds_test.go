//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var roundsFlag = flag.Int("chaos.rounds", 1, "disturbed runs whose traces are checked against all models")

// TestDisturbedRunsConform kills a coordinator at random moments of a run, and sessions die beside it. The
// settings that the models read are random too. The fixture checks the trace of each run.
func TestDisturbedRunsConform(t *testing.T) {
	seed := newSeed(t)
	for n := range *roundsFlag {
		t.Run(fmt.Sprint("round ", n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			settings := append([]string{
				fmt.Sprint("LEASEHOLD_MAX_ATTEMPTS=", 1+r.IntN(6)), fmt.Sprint("LEASEHOLD_VISIT_SLOTS=", 1+r.IntN(20)),
			}, shortTTLs...)
			h := newFixture(t, settings...)
			h.mustStart()
			x := startTraffic(t, h, r.Uint64())
			for range 4 {
				h.WaitEnd(time.Duration(r.IntN(1500)) * time.Millisecond)
				h.Kill()
				h.mustStart()
			}
			x.stopTraffic()
		})
	}
}
