package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

// hash is a name that no content of these tests has.
const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// readDeep returns the findings about the files of a data folder, by check.
func readDeep(t *testing.T, data string) map[string]Finding {
	all := map[string]Finding{}
	for _, f := range checkFiles(t.Context(), Folders{Data: data, Deep: true}) {
		all[f.Check] = f
	}
	return all
}

func TestADeepExaminationNamesEachDamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	checks := []string{"code index", "fetched media", "fingerprints", "mirrors"}
	all := readDeep(t, dir)
	for _, check := range checks {
		require.Equal(t, OK, all[check].State, "%+v", all[check])
	}
	for _, x := range []struct {
		check, path string
		state       State
	}{
		{"code index", "index/segments/" + hash + ".segment", Fail},
		{"code index", "index/repositories/" + hash + ".generation", Fail},
		{"fetched media", "cache/sha256/01/" + hash, Warn},
		{"fetched media", "worker-1/cache/sha256/01/" + hash, Warn},
		{"fingerprints", "cache/episodes/" + hash + ".marks", Warn},
		{"fingerprints", "worker-2/cache/episodes/" + hash + ".segment", Warn},
		{"mirrors", "mirrors/a.git/objects/pack/pack-1.pack", Warn},
		{"mirrors", "manager-1/mirrors/a.git/objects/pack/pack-1.idx", Warn},
	} {
		path := filepath.Join(dir, filepath.FromSlash(x.path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("cut"), 0o600))
		all := readDeep(t, dir)
		require.Equal(t, x.state, all[x.check].State, x.path)
		require.Contains(t, all[x.check].What, path)
		require.NotEmpty(t, all[x.check].Advice)
		require.NoError(t, os.Remove(path))
		for _, check := range checks {
			if check != x.check {
				require.Equal(t, OK, all[check].State, "%s is damaged, not %s", x.path, check)
			}
		}
	}
}

func TestTheFindingAboutAJournal(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		damage string
		err    error
		state  State
		what   string
	}{
		{"", nil, OK, "no damage"},
		{"the record at 7 is damaged", nil, Fail, "record at 7"},
		{"", fmt.Errorf("x: %w", fault.ErrNotFound), OK, "none yet"},
		{"", fmt.Errorf("x: %w", fault.ErrConflict), Warn, "x"},
		{"", fmt.Errorf("table 5: %w", fault.ErrCorrupt), Fail, "table 5"},
		{"", errors.New("no permission"), Fail, "no permission"},
	} {
		f := Journal(x.damage, x.err)
		require.Equal(t, x.state, f.State, "%+v", f)
		require.Contains(t, f.What, x.what)
		require.Equal(t, x.state == OK, f.Advice == "", "%+v", f)
	}
}
