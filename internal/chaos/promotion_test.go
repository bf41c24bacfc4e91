//go:build linux

package chaos

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
)

// The database fails over under traffic repeatedly: its synchronous standby is promoted, while the old primary is
// gone, or lives on and cannot be reached, or can be reached by the owner only.
func TestNothingIsLostWhenTheStandbyOfTheDatabaseIsPromoted(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 46))
	server := pgserver.New(t)
	s := newRealm(t, server, server.Database(t)+"&connect_timeout=1", shortTTLs...)
	s.standby = server.Standby(t)
	server.Synchronous(t)
	s.start(3)
	x := startTraffic(t, s.fixture, seed)
	defer x.stopTraffic()
	for end := time.Now().Add(*timeFlag); ; {
		for _, n := range r.Perm(len(promotions)) {
			after(time.Duration(r.IntN(1000)) * time.Millisecond)
			s.promote(r, promotions[n])
		}
		if t.Failed() || !time.Now().Before(end) {
			break
		}
	}
	s.checkAll(x)
}

// promotions are where the old primary is when its standby is promoted.
var promotions = []string{"killed", "cut off", "cut off together with the owner"}

// promote promotes the standby, and waits until another epoch has begun while the old primary is as told. Afterwards the
// new primary has a standby.
func (s *shared) promote(r *rand.Rand, old string) {
	s.t.Helper()
	owner := s.awaitEpoch(s.epoch)
	next, began, primary := s.epoch+1, time.Now(), s.server
	if old == "killed" {
		primary.Kill(s.t)
	} else {
		for _, m := range s.members {
			if m == owner && old != "cut off" {
				m.spare.cut(true)
			} else {
				m.proxy.cut(true)
			}
		}
	}
	s.standby.Promote(s.t)
	s.standby.AwaitStandby(s.t)
	s.server, s.standby = s.standby, s.standby.Standby(s.t)
	s.server.Synchronous(s.t)
	s.url = strings.Replace(s.url, primary.Address(), s.server.Address(), 1)
	binary.Eventually(s.t, "the realm is claimed at the new primary", func() bool { return s.position()[0] >= int64(next) })
	after(time.Duration(r.IntN(1000)) * time.Millisecond)
	if old != "killed" {
		primary.Kill(s.t)
	}
	for _, m := range s.members {
		m.proxy.to(s.standby.Address())
		m.proxy.cut(false)
		m.spare.cut(false)
		m.proxy, m.spare = m.spare, m.proxy
	}
	s.awaitEpoch(next)
	s.note("promote the standby, the old primary is "+old, began)
	s.restart()
}
