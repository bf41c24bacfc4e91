//go:build linux

package chaos

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// An archive is researched and a repository is indexed while coordinators take over from each other, and managers and
// workers are killed and stopped beside them: row 56 of the catalogue of faults. Nothing is found twice, and nothing is
// missing.
func TestAnArchiveAndARepositoryAreDoneWhileCoordinatorsTakeOver(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 45))
	want := undisturbed(t)
	killPoints := map[string][]string{"manager": points(t, "manager"), "worker": points(t, "worker")}
	s := newShared(t, 3, manyAttempts...)
	s.env = []string{"LEASEHOLD_DATA=" + filepath.Join(t.TempDir(), "commands"), "host=" + s.gate}
	var working []*member
	for _, mode := range []string{"manager", "manager", "worker", "worker", "worker"} {
		m := s.newMember(mode)
		m.start("")
		working = append(working, m)
	}
	repository := largeRepository(t)
	for _, origin := range []string{example, repository} {
		binary.Eventually(t, "the origin is added", func() bool {
			_, code := s.run("origin", "add", origin)
			return code == 0
		})
	}
	begun := time.Now()
	for n := 0; n < ways || time.Since(begun) < *timeFlag; n++ {
		m := working[r.IntN(len(working))]
		m.disturb(r, anyOf(r, killPoints[m.mode]))
		s.takeOver(r)
		after(time.Duration(r.IntN(1000)) * time.Millisecond)
		restartKilled(working)
	}
	s.awaitArchive(func() { restartKilled(working) }, repository, len(want))
	require.Equal(t, want, s.findings())
	for _, m := range s.members {
		m.Kill()
	}
	requireConforms(t, joinTraces(t, s.traces))
}

// awaitArchive waits until the repository is indexed, the archive has so many findings, and nothing is left to do. It calls
// meanwhile all the time. An origin rests if its visits were lost four times in a row, so now and then it asks for visits, as
// a person would.
func (s *shared) awaitArchive(meanwhile func(), repository string, findings int) {
	s.t.Helper()
	asked := time.Now()
	binary.Eventually(s.t, "all files and clips are found", func() bool {
		meanwhile()
		if time.Since(asked) > 10*time.Second {
			s.run("origin", "save-now", "--force", repository, example+"/feed.xml", example+"/clips")
			asked = time.Now()
		}
		said, code := s.run("search", "--json", "/^needle[0-3]$/")
		if code != 0 || strings.Count(said, `"line":1`) != 4 {
			return false
		}
		said, code = s.run("findings", "--json")
		return code == 0 && strings.Count(said, "\n")+1 >= findings
	})
	binary.Eventually(s.t, "nothing is left", func() bool {
		meanwhile()
		for _, space := range []string{"task", "result", "visit", "dead"} {
			if said, code := s.run("space", "count", space, "--held"); code != 0 || said != "0" {
				return false
			}
		}
		return true
	})
}
