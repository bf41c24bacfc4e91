package build

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	settings := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Path: "leasehold"}}
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	for want, c := range map[string]struct {
		commit string
		info   *debug.BuildInfo
	}{
		"v0.1.0-dev+0123456789ab":       {"0123456789ab", settings("vcs.revision", "fedcba9876543210")},
		"v0.1.0-dev+0123456789ab.dirty": {"0123456789ab.dirty", nil},
		"v0.1.0-dev+fedcba987654":       {"", settings("vcs.revision", "fedcba9876543210", "vcs.modified", "false")},
		"v0.1.0-dev+fedcba987654.dirty": {"", settings("vcs.modified", "true", "vcs.revision", "fedcba9876543210")},
		"v0.1.0-dev+abc":                {"", settings("vcs.revision", "abc")},
		"v0.1.0-dev+unknown":            {"", settings("vcs.modified", "true")},
	} {
		require.Equal(t, want, version(c.commit, c.info))
	}
	require.Equal(t, "v0.1.0-dev+unknown", version("", nil))
	other := settings("vcs.revision", "fedcba9876543210")
	other.Main.Path = "example.org/theirs"
	require.Equal(t, "v0.1.0-dev+unknown", version("", other), "it is their commit")
}
