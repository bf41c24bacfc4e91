package pspace_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/coordinator/gate/pspace"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var recordings = flag.String("recordings", "testdata/conversations", "folder of the conversations to replay")

// fixture is a gate with a space named "space".
type fixture struct {
	*foreigntest.Fixture
	address string
}

func newFixture(t testing.TB) fixture { return newFixtureWith(t, 0, foreign.Access{Write: true}) }

// newFixtureWith serves a gate with a memory budget, 0 for none, and a space named space.
func newFixtureWith(t testing.TB, budget int64, access foreign.Access) fixture {
	f := foreigntest.New(t, budget)
	f.Create("space")
	gate := pspace.New(pspace.Config{Hub: f.Hub, Access: access, Log: slog.New(slog.DiscardHandler)})
	return fixture{f, f.Listen(gate.Serve)}
}

// client is a connection of a client that writes JSON by itself.
type client struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

// dial opens a connection that the test closes, and on which all fails after foreigntest.Wait.
func (f fixture) dial() *client {
	f.Helper()
	c, err := net.Dial("tcp", f.address)
	require.NoError(f, err)
	f.Cleanup(func() { _ = c.Close() })
	require.NoError(f, c.SetDeadline(time.Now().Add(foreigntest.Wait)))
	return &client{f, c, bufio.NewReader(c)}
}

// send sends a text and a line feed.
func (c *client) send(text string) {
	c.t.Helper()
	_, err := c.Write([]byte(text + "\n"))
	require.NoError(c.t, err)
}

// answer reads one line.
func (c *client) answer() string {
	c.t.Helper()
	line, err := c.r.ReadString('\n')
	require.NoError(c.t, err)
	return strings.TrimSpace(line)
}

// call sends a request and returns the answer.
func (c *client) call(request string) string {
	c.t.Helper()
	c.send(request)
	return c.answer()
}

// held is the tuples that the server of a recording holds, by the text in its operation.
var held = map[string][]tuple.Tuple{
	`server holds ("a",1), ("a",2)`:  {tuple.New("a", int32(1)), tuple.New("a", int32(2))},
	`server holds ("job", Job`:       {tuple.New("job", tuple.Opaque{Name: "Job", JSON: `{"n":3,"name":"n"}`})},
	`server holds ("rule", Template`: {rule},
	`"rule", Template actual`:        {rule},
	"java.lang.Number":               {tuple.New("a", int32(1))},
	`server holds ("t","s",`:         {allTypes},
	`server holds that tuple`:        {allTypes},
}

var (
	rule = tuple.New("rule", tuple.Opaque{Name: "pspace:template",
		JSON: `[{"formal":false,"value":{"type":"pspace:string","value":"x"}},{"formal":true,"value":"pspace:int"}]`})
	allTypes = tuple.New("t", "s", int32(-32), int64(64), 2.5, float32(1.5), true, tuple.Opaque{Name: "pspace:char", JSON: `"c"`},
		tuple.Opaque{Name: "pspace:byte", JSON: "3"}, tuple.New("in", int32(9)))
)

// better are the recordings in which jSpace answers nothing, and its client waits for
// ever; this gate answers.
var better = map[string]string{
	"raw-not-json": "jSpace reads nothing more from the connection", "raw-put-without-tuple": "jSpace answers only the second request",
	"raw-unknown-message-type": "jSpace answers only the second request", "raw-put-unknown-type-name": "jSpace does not answer",
	"keep-put-object-unknown-to-server": "jSpace does not answer", "conn-put-object-unknown-to-server": "jSpace does not answer",
	"keep-queryp-class-unknown-to-server": "jSpace does not answer", "conn-queryp-class-unknown-to-server": "jSpace does not answer",
}

// FaultNN in a name is a row of the catalogue of faults in docs/testing.md.
func TestFault42RecordedConversationsHaveTheSameAnswers(t *testing.T) {
	t.Parallel()
	for _, r := range foreigntest.Recordings(t, *recordings) {
		if better[r.Name] != "" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for text, tuples := range held {
				if strings.Contains(r.Operation, text) {
					f.Put("space", tuples...)
				}
			}
			waiters := f.Engine.Stats().Waiters
			answers := r.Replay(t, f.address, readLines, func() {
				waiters++
				if strings.Contains(r.Operation, "waits") {
					f.AwaitWaiters(waiters)
				}
			})
			n := 0
			for _, e := range r.Events {
				if e.Kind == foreigntest.Received {
					requireSameLines(t, e.Data, answers[n])
					n++
				}
			}
		})
	}
}

// readLines reads as many lines as wanted has.
func readLines(c net.Conn, wanted []byte) []byte {
	var all []byte
	r := make([]byte, 1)
	for lines := strings.Count(string(wanted), "\n"); lines > 0; {
		n, err := c.Read(r)
		if n == 1 && r[0] == '\n' {
			lines--
		}
		all = append(all, r[:n]...)
		if err != nil {
			break
		}
	}
	return all
}

// requireSameLines compares lines as JSON, in any order, because answers have none.
func requireSameLines(t *testing.T, want, got []byte) {
	t.Helper()
	parse := func(text []byte) (all []any) {
		for line := range strings.Lines(string(text)) {
			var v any
			require.NoError(t, json.Unmarshal([]byte(line), &v), line)
			all = append(all, v)
		}
		return all
	}
	require.ElementsMatch(t, parse(want), parse(got))
}

const (
	wait = foreigntest.Wait
	tick = time.Millisecond
)
