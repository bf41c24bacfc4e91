//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"leasehold/internal/binary"
)

var (
	seedFlag = flag.Uint64("chaos.seed", 0, "seed of the random choices; 0: a new one")
	timeFlag = flag.Duration("chaos.time", 3*time.Second, "duration of each test with random faults")
)

// program is the path of leasehold, built with failpoints.
var program string

func TestMain(m *testing.M) {
	if coordinator := os.Getenv(killedClientOf); coordinator != "" {
		fmt.Fprintln(os.Stderr, runKilledClient(coordinator))
		os.Exit(1)
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "chaos")
	if err == nil {
		program = filepath.Join(dir, "leasehold")
		err = binary.Build(program, "-tags", "failpoints")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("leasehold/internal/pgserver.(*Server).prepare.func1"), // the server that all tests share
		goleak.IgnoreAnyFunction("leasehold/internal/pgserver.(*Server).launch.func1"),
		goleak.Cleanup(func(code int) { _ = os.RemoveAll(dir); os.Exit(code) }))
}

// newSeed returns the seed of a test and logs it.
func newSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/chaos -run '^%s$' -chaos.seed %d", t.Name(), seed)
	return seed
}
