//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// shared is several coordinators on one realm of a database. Each reaches the database through a proxy of its own.
type shared struct {
	*fixture // for the clients: it has the gates and the APIs of all members
	server   *pgserver.Server
	standby  *pgserver.Server // receives what server commits; nil: none
	url      string           // of the database
	settings []string         // of all members
	members  []*sharing
	traces   string                     // prefix of the files
	epoch    uint64                     // of the latest owner that was seen
	took     map[string][]time.Duration // from each kind of disturbance until the API of the next owner answers
	left     []int                      // ways that takeOver has left of the present round
}

// ways is how many ways takeOver has.
const ways = 7

// sharing is one coordinator of a realm.
type sharing struct {
	*fixture
	proxy *proxy // to the server
	spare *proxy // to its standby; nil: none
}

// newShared starts n coordinators on a new database.
func newShared(t *testing.T, n int, settings ...string) *shared {
	t.Helper()
	server := pgserver.New(t)
	s := newRealm(t, server, server.Database(t), settings...)
	s.start(n)
	return s
}

// newRealm returns a realm without coordinators, in a database of a server.
func newRealm(t *testing.T, server *pgserver.Server, url string, settings ...string) *shared {
	return &shared{
		fixture: &fixture{t: t, consumerTTL: 3 * loadSafeTTL}, server: server, url: url, settings: settings, took: map[string][]time.Duration{},
		traces: filepath.Join(t.TempDir(), "trace"),
	}
}

// start starts the first n coordinators.
func (s *shared) start(n int) {
	s.t.Helper()
	for range n {
		s.add("")
	}
	s.awaitEpoch(1)
}

// add starts one more coordinator, of a version as in fixture.
func (s *shared) add(version string) *sharing {
	s.t.Helper()
	m := &sharing{fixture: &fixture{t: s.t, dir: filepath.Join(s.t.TempDir(), "data"), gate: freeAddress(s.t), http: freeAddress(s.t), version: version}}
	m.proxy = newProxy(s.t, s.server.Address())
	hosts := m.proxy.address
	if s.standby != nil {
		m.spare = newProxy(s.t, s.standby.Address())
		hosts += "," + m.spare.address
	}
	m.env = append([]string{
		"LEASEHOLD_DATA=" + m.dir, "LEASEHOLD_SESSION_MAX_TTL=" + longTTL.String(),
		"LEASEHOLD_JOURNAL=postgres", "LEASEHOLD_DATABASE=" + strings.Replace(s.url, s.server.Address(), hosts, 1),
		"LEASEHOLD_OWNER_LOST=1s", fmt.Sprintf("LEASEHOLD_TRACE=%s.%d", s.traces, len(s.members)),
	}, s.settings...)
	m.begin("")
	s.members = append(s.members, m)
	s.gate = strings.TrimPrefix(s.gate+","+m.gate, ",")
	s.http = strings.TrimPrefix(s.http+",http://"+m.http, ",http://")
	return m
}

// owner returns the member that serves in the latest epoch, as the members say; nil if none does now. One that is cut off
// may not know of a later epoch.
func (s *shared) owner() (owner *sharing, epoch uint64) {
	for _, m := range s.members {
		if m.Ended() || m.Stopped() {
			continue
		}
		all, err := m.ask()
		if err != nil {
			continue
		}
		i := slices.IndexFunc(all, func(x types.Member) bool { return x.Role == "owner" })
		if i >= 0 && all[i].API == "http://"+m.http && all[i].Epoch > epoch {
			owner, epoch = m, all[i].Epoch
		}
	}
	return owner, epoch
}

// ask returns the members of the realm, if this one serves.
func (m *sharing) ask() ([]types.Member, error) {
	c, err := client.New("http://" + m.http)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.Alive(ctx); err != nil { // asks once
		return nil, err
	}
	return c.Members(ctx)
}

// awaitEpoch waits for an owner of an epoch, or a later one.
func (s *shared) awaitEpoch(epoch uint64) (owner *sharing) {
	s.t.Helper()
	binary.Eventually(s.t, fmt.Sprintf("epoch %d has begun", epoch), func() bool {
		m, found := s.owner()
		if m != nil && found >= epoch {
			owner, s.epoch = m, found
		}
		return owner != nil
	})
	return owner
}

// takeOver disturbs the owner in one of the ways, and waits until another epoch has begun. All members run at its end. Each
// way comes once in a round.
func (s *shared) takeOver(r *rand.Rand) {
	s.t.Helper()
	owner := s.awaitEpoch(s.epoch)
	next, began := s.epoch+1, time.Now()
	what, undo := "", func() {}
	if len(s.left) == 0 {
		s.left = r.Perm(ways)
	}
	n := s.left[0]
	s.left = s.left[1:]
	switch n {
	case 0:
		what = "kill"
		owner.Kill()
	case 1:
		what = "stop in order"
		owner.Signal(syscall.SIGTERM)
	case 2:
		what = "freeze"
		owner.Signal(syscall.SIGSTOP)
		undo = func() { owner.Signal(syscall.SIGCONT) }
	case 3:
		what = "end the connections to the database"
		s.server.Terminate(s.t, "leasehold%")
	case 4:
		what = "cut the network to the database"
		owner.proxy.cut(true)
		undo = func() { owner.proxy.cut(false) }
	case 5:
		what = "cut the way back from the database"
		owner.proxy.hold(true)
		undo = func() { owner.proxy.hold(false) }
	default:
		what = "restart the database"
		s.server.Kill(s.t)
		s.server.Start(s.t)
	}
	s.awaitEpoch(next)
	s.note(what, began)
	undo()
	if what == "stop in order" {
		require.True(s.t, owner.WaitEnd(binary.WaitLimit), "the owner does not stop")
	}
	s.restart()
}

// note notes how long a take-over took that something caused.
func (s *shared) note(what string, began time.Time) {
	s.took[what] = append(s.took[what], time.Since(began))
}

// restart starts the members that have ended.
func (s *shared) restart() {
	for _, m := range s.members {
		if m.Ended() {
			m.begin("")
		}
	}
}

// logTimes logs how long take-overs took: the median and the longest of each kind.
func (s *shared) logTimes() {
	s.t.Logf("%d epochs", s.epoch)
	for what, took := range s.took {
		slices.Sort(took)
		s.t.Logf("%s: %d times, p50 %s, max %s", what, len(took), took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	}
}

// Three coordinators take over from each other under traffic, in every way in which an owner can be lost. What clients
// have as an answer stays true, and the log of all epochs conforms to the models.
func TestWhatClientsWereToldStaysTrueWhicheverCoordinatorServes(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 44))
	s := newShared(t, 3, shortTTLs...)
	x := startTraffic(t, s.fixture, seed)
	defer x.stopTraffic()
	end := time.Now().Add(*timeFlag)
	for n := 0; n < 2*ways || time.Now().Before(end) && !t.Failed(); n++ {
		s.takeOver(r)
		after(time.Duration(r.IntN(300)) * time.Millisecond)
	}
	s.checkAll(x)
}

// checkAll ends the traffic, and checks the answers that its clients got, and the log of all epochs.
func (s *shared) checkAll(x *traffic) {
	s.t.Helper()
	s.logTimes()
	x.stopTraffic()
	if !s.t.Failed() {
		x.check()
	}
	for _, m := range s.members {
		m.Kill()
	}
	requireConforms(s.t, joinTraces(s.t, s.traces))
}

// joinTraces joins the traces of all epochs, whose files begin with prefix, into one file, with numbers as of one
// coordinator. It returns the path.
func joinTraces(t *testing.T, prefix string) string {
	t.Helper()
	const mark = ".epoch"
	parts, err := filepath.Glob(prefix + "*" + mark + "*")
	require.NoError(t, err)
	byEpoch := map[int]string{}
	for _, part := range parts {
		epoch, err := strconv.Atoi(part[strings.LastIndex(part, mark)+len(mark):])
		require.NoError(t, err)
		require.Empty(t, byEpoch[epoch], "an epoch has one owner")
		byEpoch[epoch] = part
	}
	path := filepath.Join(t.TempDir(), "joined.jsonl")
	to, err := os.Create(path)
	require.NoError(t, err)
	defer to.Close()
	lines, n := json.NewEncoder(to), 0
	for _, epoch := range slices.Sorted(maps.Keys(byEpoch)) {
		data, err := os.ReadFile(byEpoch[epoch])
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				break // the death cut it
			}
			n++
			var event map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(line, &event))
			event["seq"] = json.RawMessage(fmt.Sprint(n))
			require.NoError(t, lines.Encode(event))
		}
	}
	return path
}
