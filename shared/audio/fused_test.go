package audio

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// fused is a multiplication and an addition with one rounding, as arm64 has them.
var fused = regexp.MustCompile(`(?m)^.*\(([^)]*\.go:\d+)\)\s+FN?M(?:ADD|SUB)[SD]\b.*$`)

// TestNoProcessorFusesOperations compiles what finds clips for arm64, where a product and a sum
// are rounded once instead of twice unless a conversion between them forbids it. So it gives the
// same bits as amd64, whose compiler does not fuse them.
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
