//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// grants is traffic of leases: granted, extended, revoked and left to expire, each call with a repeated operation
// id. Its sessions survive every crash, so every call is answered.
type grants struct {
	mu      sync.Mutex // guards the fields below
	granted int
	revoked int
	ids     map[string]bool
	wrong   []string
}

func newGrants() *grants { return &grants{ids: map[string]bool{}} }

// repeater calls procedures several times with one operation id.
type repeater struct {
	*session
	rand *rand.Rand
	seq  uint64
}

// call returns the first answer; wrong describes a later answer that differs.
func (r *repeater) call(procedure string, args tuple.Tuple) (reply tuple.Tuple, wrong string, err error) {
	r.seq++
	op := space.OpID{Session: r.Session(), Seq: r.seq}
	reply, err = r.Call(context.Background(), op, procedure, args)
	if err != nil {
		return reply, "", err // the call had no effect
	}
	for range r.rand.IntN(3) {
		again, err := r.Call(context.Background(), op, procedure, args)
		if err != nil || !again.Equal(reply) {
			return reply, fmt.Sprintf("%s %s was answered %s, and then %s, %v", procedure, args, reply, again, err), nil
		}
	}
	return reply, "", nil
}

func (g *grants) act(ctx context.Context, c *session, n int, random *rand.Rand) error {
	r := &repeater{session: c, rand: random}
	last := int64(0)
	for i := 0; ctx.Err() == nil; i++ {
		subject := fmt.Sprintf("subject-%d-%d", n, i)
		granted, wrong, err := r.call("lease.grant", tuple.New(subject, "", int64(50+random.IntN(500))))
		if err != nil {
			return err
		}
		g.noteWrong(wrong)
		l := lease.Decode(granted)
		id, token := l.ID, l.Token
		if token <= last {
			g.noteWrong(fmt.Sprintf("token %d of lease %s comes after %d", token, id, last))
		}
		last = token
		g.grant(id)
		if err := g.use(r, id, token); err != nil {
			return err
		}
	}
	return nil
}

// use extends a lease at random, and revokes it at random.
func (g *grants) use(r *repeater, id string, token int64) error {
	if r.rand.IntN(2) == 0 {
		_, wrong, err := r.call("lease.extend", tuple.New(id, token, int64(200)))
		g.noteWrong(wrong)
		if err != nil && !errors.Is(err, fault.ErrNotFound) {
			return err
		}
	}
	if r.rand.IntN(2) == 0 {
		return nil
	}
	_, wrong, err := r.call("lease.revoke", tuple.New(id, token))
	g.noteWrong(wrong)
	if errors.Is(err, fault.ErrNotFound) {
		return nil // it has expired
	}
	if err != nil {
		return err
	}
	g.revoke()
	_, _, err = r.call("lease.extend", tuple.New(id, token, int64(200)))
	if !errors.Is(err, fault.ErrNotFound) {
		g.noteWrong(fmt.Sprintf("an extension of lease %s, which was revoked: %v", id, err))
	}
	_, _, err = r.call("lease.revoke", tuple.New(id, token))
	if !errors.Is(err, fault.ErrNotFound) {
		g.noteWrong(fmt.Sprintf("a second end of lease %s: %v", id, err))
	}
	return nil
}

func (g *grants) noteWrong(wrong string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if wrong != "" {
		g.wrong = append(g.wrong, wrong)
	}
}

func (g *grants) grant(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ids[id] {
		g.wrong = append(g.wrong, "lease "+id+" was granted twice")
	}
	g.ids[id] = true
	g.granted++
}

func (g *grants) revoke() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revoked++
}

// check compares with the counters of the coordinator after all leases have ended. Other
// clients were granted between others and othersAtMost leases.
func (g *grants) check(t *testing.T, c *session, others, othersAtMost int) {
	t.Helper()
	require.Empty(t, g.wrong)
	binary.Eventually(t, "all leases end", func() bool {
		n, err := c.Space(lease.Space).Count(within(t), lease.Any())
		require.NoError(t, err)
		return n == 0
	})
	totals, err := lease.Totals(within(t), c)
	require.NoError(t, err)
	t.Logf("grants: %d, %d of them revoked; work-items: %d to %d; %v", g.granted, g.revoked, others, othersAtMost, totals)
	require.Equal(t, totals[lease.Granted], totals[lease.Revoked]+totals[lease.Expired], "each lease ends exactly once")
	require.GreaterOrEqual(t, totals[lease.Granted], int64(g.granted+others), "what was granted stays granted")
	require.LessOrEqual(t, totals[lease.Granted], int64(g.granted+othersAtMost), "nothing is granted twice")
	require.Positive(t, g.granted)
}
