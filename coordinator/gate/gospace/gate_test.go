package gospace_test

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/coordinator/gate/gospace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	recordings = flag.String("recordings", "testdata/conversations", "folder of the conversations to replay")
	update     = flag.Bool("update", false, "write testdata/conversations with package encoding/gob")
)

// fixture is a gate to a space named "space".
type fixture struct {
	*foreigntest.Fixture
	address string
}

func newFixture(t testing.TB) fixture { return newFixtureOf(t, "space", foreign.Access{Write: true}) }

// newFixtureOf serves a gate for a space, which exists only if its name is space.
func newFixtureOf(t testing.TB, name string, access foreign.Access) fixture {
	f := foreigntest.New(t, 0)
	if name == "space" {
		f.Create(name)
	}
	gate := gospace.New(gospace.Config{Hub: f.Hub, Space: name, Access: access, Log: slog.New(slog.DiscardHandler)})
	return fixture{f, f.Listen(gate.Serve)}
}

// held is the tuples that the server of a recording holds, by the text in its operation.
var held = []struct {
	text   string
	tuples []Tuple
}{
	{`server holds ("a",1), ("a",2)`, []Tuple{tupleOf("a", 1), tupleOf("a", 2)}},
	{`Size() of two tuples`, []Tuple{tupleOf("a", 1), tupleOf("a", 2)}},
	{`server holds ("job", main.Job`, []Tuple{tupleOf("job", Job{"n", 3})}},
	{`server holds ("outer", ("in", 9))`, []Tuple{tupleOf("outer", tupleOf("in", 9))}},
	{`server holds ("rule", CreateTemplate`, []Tuple{tupleOf("rule", templateOf("x", formal("string")))}},
	{`server holds ("t","s",int32`, []Tuple{tupleOf("t", "s", int32(-32), int64(64), 2.5, float32(1.5), true, []byte("b"), []string{"q"})}},
	{`server holds ({red}, "x")`, []Tuple{tupleOf(red, "x")}},
}

var red = Labels{"red": Label{[]any{"red"}}}

// better are the recordings in which goSpace's server fails and this gate does not, or has
// what a gate does not have.
var better = map[string]string{
	"getagg": "the gate has no functions", "putagg": "the gate has no functions", "queryagg": "the gate has no functions", "queryagg-no-match": "the gate has no functions",
	"query-unknown-type-kills-server": "goSpace's server ends", "queryp-unknown-type-kills-server": "goSpace's server ends",
	"put-struct-unknown-to-server": "goSpace refuses the type", "raw-abandoned-get": "goSpace loses the tuple",
}

// FaultNN in a name is a row of the catalogue of faults in docs/testing.md.
func TestFault42RecordedConversationsHaveTheSameAnswers(t *testing.T) {
	t.Parallel()
	if *update {
		writeConversations(t)
	}
	for _, r := range foreigntest.Recordings(t, *recordings) {
		if better[r.Name] != "" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, h := range held {
				if strings.Contains(r.Operation, h.text) {
					for _, tuple := range h.tuples {
						put(t, f.address, tuple.Flds...)
					}
				}
			}
			waiters := f.Engine.Stats().Waiters
			answers := r.Replay(t, f.address, func(c net.Conn, _ []byte) []byte {
				all, err := io.ReadAll(c)
				require.NoError(t, err)
				return all
			}, func() {
				waiters++
				if strings.Contains(r.Operation, "wait") && waiters <= strings.Count(r.Operation, "Get(")+strings.Count(r.Operation, "Query(") {
					f.AwaitWaiters(waiters)
				}
			})
			n := 0
			for _, e := range r.Events {
				if e.Kind == foreigntest.Received {
					require.Equal(t, decodeAny(t, e.Data), decodeAny(t, answers[n]), "%x and %x", e.Data, answers[n])
					n++
				}
			}
		})
	}
}

// decodeAny decodes an answer of any kind.
func decodeAny(t *testing.T, data []byte) any {
	t.Helper()
	var errs []error
	for _, v := range []any{new(bool), new(int), new(Tuple), new([]Tuple), new([]any)} {
		err := gob.NewDecoder(bytes.NewReader(data)).Decode(v)
		if err == nil {
			return v
		}
		errs = append(errs, err)
	}
	require.Fail(t, "no answer", "%x: %v", data, errs)
	return nil
}

// conversation is a request and its answer, nil for none.
type conversation struct {
	operation string
	body      any
	answer    any
}

// writeConversations writes the conversations of a goSpace client with its server, as the
// description of the protocol has them, with the encoder of package encoding/gob.
func writeConversations(t *testing.T) {
	const holdsA = `server holds ("a",1), ("a",2)`
	a := func(n int) Tuple { return tupleOf("a", n) }
	one := map[string]struct {
		server string
		steps  []conversation
	}{
		"get-actual":      {holdsA, []conversation{{"GET_REQUEST", templateOf("a", 2), a(2)}}},
		"get-formal":      {holdsA, []conversation{{"GET_REQUEST", templateOf("a", formal("int")), a(1)}, {"SIZE_REQUEST", "", 1}}},
		"query-actual":    {holdsA, []conversation{{"QUERY_REQUEST", templateOf("a", 2), a(2)}}},
		"query-formal":    {holdsA, []conversation{{"QUERY_REQUEST", templateOf("a", formal("int")), a(1)}, {"SIZE_REQUEST", "", 2}}},
		"getp-formal":     {holdsA, []conversation{{"GETP_REQUEST", templateOf("a", formal("int")), []any{true, a(1)}}}},
		"getp-miss":       {holdsA, []conversation{{"GETP_REQUEST", templateOf("zz", formal("int")), []any{false, Tuple{}}}}},
		"getp-miss-int64": {holdsA, []conversation{{"GETP_REQUEST", templateOf("a", formal("int64")), []any{false, Tuple{}}}}},
		"queryp-actual":   {holdsA, []conversation{{"QUERYP_REQUEST", templateOf("a", 2), []any{true, a(2)}}}},
		"queryp-miss":     {holdsA, []conversation{{"QUERYP_REQUEST", templateOf("zz", formal("int")), []any{false, Tuple{}}}}},
		"queryp-unknown":  {holdsA, []conversation{{"QUERYP_REQUEST", templateOf("a", formal("no.Such")), []any{false, Tuple{}}}}},
		"getall-two":      {holdsA, []conversation{{"GETALL_REQUEST", templateOf("a", formal("int")), []Tuple{a(1), a(2)}}, {"SIZE_REQUEST", "", 0}}},
		"getall-none":     {holdsA, []conversation{{"GETALL_REQUEST", templateOf("zz", formal("int")), []Tuple{}}}},
		"queryall-two":    {holdsA, []conversation{{"QUERYALL_REQUEST", templateOf("a", formal("int")), []Tuple{a(1), a(2)}}, {"SIZE_REQUEST", "", 2}}},
		"get-struct":      {`server holds ("job", main.Job{"n",3})`, []conversation{{"GET_REQUEST", templateOf("job", formal("main.Job")), tupleOf("job", Job{"n", 3})}}},
		"get-tuple":       {`server holds ("outer", ("in", 9))`, []conversation{{"GET_REQUEST", templateOf("outer", formal("container.Tuple")), tupleOf("outer", tupleOf("in", 9))}}},
		"get-template": {`server holds ("rule", CreateTemplate("x", &string))`, []conversation{{"GET_REQUEST", templateOf("rule", formal("container.Template")),
			tupleOf("rule", templateOf("x", formal("string")))}}},
		"get-labels": {`server holds ({red}, "x")`, []conversation{{"GET_REQUEST", templateOf(red, formal("string")), tupleOf(red, "x")}}},
		"size-0":     {"", []conversation{{"SIZE_REQUEST", "", 0}}},
		"putp":       {"", []conversation{{"PUTP_REQUEST", a(1), nil}}},
		"put-nil":    {"", []conversation{{"PUT_REQUEST", tupleOf("n", nil), true}, {"GETP_REQUEST", templateOf("n", nil), []any{true, tupleOf("n", nil)}}}},
		"put-none":   {"", []conversation{{"PUT_REQUEST", Tuple{}, true}, {"GETP_REQUEST", Template{}, []any{true, Tuple{}}}}},
		"unknown":    {"", []conversation{{"FOO_REQUEST", "", nil}, {"GET_REQUEST", "x", nil}, {"GETAGG_REQUEST", templateOf("func://golang:1.2/main.sum:()", "a"), nil}}},
	}
	for name, v := range map[string]any{"bool": true, "bytes": []byte("bytes"), "complex128": complex(1, 2), "float32": float32(2.5), "float64": 2.5, "zero": 0.0,
		"int": -1, "int-large": 1 << 40, "int-zero": 0, "int8": int8(-8), "int16": int16(-16), "int32": int32(-32), "int64": int64(64), "uint": uint(7), "uint8": uint8(200),
		"uint16": uint16(16), "uint32": uint32(32), "uint64": uint64(1) << 63, "string": "hello", "string-empty": "", "utf8": "blåbær €", "strings": []string{"x", "y"},
		"ints": []int{1, 2}, "interfaces": []any{"x", 1}, "map": map[string]int{"k": 1}, "struct": Job{"n", 3}, "labels": red,
		"template": templateOf("in", formal("string"), formal("int")), "tuple": tupleOf("in", 9, tupleOf())} {
		type_ := strings.NewReplacer("gospace_test.", "container.", "interface {}", "interface {}").Replace(fmt.Sprintf("%T", v))
		if _, isJob := v.(Job); isJob {
			type_ = "main.Job"
		}
		one["put-"+name] = struct {
			server string
			steps  []conversation
		}{"", []conversation{{"PUT_REQUEST", tupleOf("v", v), true}, {"QUERYP_REQUEST", templateOf("v", v), []any{true, tupleOf("v", v)}},
			{"GETP_REQUEST", templateOf("v", formal(type_)), []any{true, tupleOf("v", v)}}}}
	}
	require.NoError(t, os.MkdirAll("testdata/conversations", 0o755))
	for name, c := range one {
		text := "# operation: " + strings.TrimSpace(name+" "+c.server) + "\n"
		for i, s := range c.steps {
			text += fmt.Sprintf("# connection %d\n> %s\n", i+1, hex.EncodeToString(request(t, s.operation, s.body)))
			if s.answer != nil {
				var b bytes.Buffer
				require.NoError(t, gob.NewEncoder(&b).Encode(s.answer))
				text += "< " + hex.EncodeToString(b.Bytes()) + "\n"
			}
			text += "# closed by the server\n# closed by the client\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join("testdata/conversations", name+".txt"), []byte(text), 0o644))
	}
}
