//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
)

// The backends of kinds of statements of catalog, schedule and code index are ended while an archive is researched and a
// repository is indexed: those of a half of the kinds, at random, and of all in a long run.
func TestNothingIsMissingWhenABackendIsEndedInStatementsOfTheCatalog(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 44))
	want := undisturbed(t)
	s := newShared(t, 3, append([]string{"LEASEHOLD_MAX_ATTEMPTS=100"}, fastDetection...)...)
	s.env = []string{"LEASEHOLD_DATA=" + filepath.Join(t.TempDir(), "commands"), "host=" + s.gate}
	for _, mode := range []string{"manager", "worker"} {
		s.newMember(mode).start("")
	}
	chosen := map[string]bool{}
	all := s.endStatements(func(kind string) bool {
		if _, seen := chosen[kind]; !seen {
			chosen[kind] = !ofJournal.MatchString(kind) && (r.IntN(2) == 0 || *timeFlag >= time.Minute)
		}
		return chosen[kind]
	})
	repository := largeRepository(t)
	for _, origin := range []string{example, repository} {
		binary.Eventually(t, "the origin is added", func() bool {
			s.restart()
			_, code := s.run("origin", "add", origin)
			return code == 0
		})
	}
	s.awaitArchive(s.restart, repository, len(want))
	once := all.left()
	kinds := all.stop()
	t.Logf("ended at %d kinds of statements: %s; not after the answer to %q", len(kinds), strings.Join(kinds, "; "), once)
	require.Greater(t, len(kinds), 10)
	require.Equal(t, want, s.findings())
	for _, m := range s.members {
		m.Kill()
	}
	requireConforms(t, joinTraces(t, s.traces))
}

var ofIdentity = regexp.MustCompile(`\b(identity|token|invite|peer)\b`)

// The backend of each kind of statement of the identity is ended while tokens and invites are made and the CA changes.
// What a command made is there afterwards, and all members have one CA.
func TestNothingIsLostWhenABackendIsEndedInAnyStatementOfTheIdentity(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	s := newRealm(t, server, server.Database(t), "LEASEHOLD_AUTH=true", "LEASEHOLD_IDENTITY_KEY="+authority.NewSealingKey().Reveal())
	for range 2 {
		s.add("")
	}
	all := s.endStatements(ofIdentity.MatchString)
	var tokens []string
	rotated := 0
	made := func() bool {
		for _, table := range []string{"identity", "token", "invite"} {
			if !all.endedTwice("COMMIT of INSERT INTO " + table) {
				return false
			}
		}
		return len(all.left()) == 0
	}
	for deadline := time.Now().Add(2 * binary.WaitLimit); !made() || len(tokens) < 3 || rotated == 0; {
		require.True(t, time.Now().Before(deadline), "no backend was ended twice in %q", all.left())
		s.restart()
		for _, m := range s.members { // the one that stands by refuses
			name := fmt.Sprint("token-", time.Now().UnixNano())
			if _, code := m.run("token", "create", name, "--role", "reader"); code != 0 {
				continue
			}
			tokens = append(tokens, name)
			m.run("invite", "worker")
			if _, code := m.run("identity", "rotate"); code == 0 {
				rotated++
			}
		}
	}
	t.Logf("%d tokens, %d changes of the CA, ended: %s", len(tokens), rotated, strings.Join(all.stop(), "; "))
	s.restart()
	binary.Eventually(t, "all tokens are there", func() bool {
		for _, m := range s.members {
			if said, code := m.run("token", "list"); code == 0 {
				return !slices.ContainsFunc(tokens, func(name string) bool { return !strings.Contains(said, name) })
			}
		}
		return false
	})
	binary.Eventually(t, "all members have one CA", func() bool {
		a, codeA := s.members[0].run("identity", "show")
		b, codeB := s.members[1].run("identity", "show")
		return codeA == 0 && codeB == 0 && a == b
	})
}
