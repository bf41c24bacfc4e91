package clips

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// fused matches an arm64 instruction that multiplies and adds with one rounding.
var fused = regexp.MustCompile(`(?m)^.*\(([^)]*\.go:\d+)\)\s+FN?M(?:ADD|SUB)[SD]\b.*$`)

// TestNoProcessorFusesOperations compiles the packages that find clips for arm64, and fails if the
// code has a fused operation. On arm64 a product and a sum are rounded once instead of twice, unless
// a conversion between them forbids it. Without fused operations arm64 gives the same bits as amd64,
// because the compiler for amd64 generates none.
func TestNoProcessorFusesOperations(t *testing.T) {
	t.Parallel()
	args := []string{"build", "-gcflags=-S"}
	for _, p := range []string{"cliplint", "decode", "exact", "fingerprint", "index", "landmark", "match", "resample", "spectrum", "verify", "vote", "warp"} {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	require.NoError(t, err, "%.2000s", listing)
	require.Contains(t, string(listing), "FMULD", "the listing is that of arm64")
	for _, m := range fused.FindAllSubmatch(listing, -1) {
		t.Errorf("%s: put the product into float32() or float64()", m[1])
	}
}
