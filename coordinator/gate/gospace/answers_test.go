package gospace_test

import (
	"encoding/gob"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/coordinator/gate/gospace"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

func TestAGetPOrQueryPIsAlwaysAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, operation := range []string{"GETP_REQUEST", "QUERYP_REQUEST"} {
		for _, body := range []any{
			templateOf("x"), templateOf(make([]any, 10_000)...), templateOf(formal(strings.Repeat("x", 1<<21))), tupleOf("x"), "x", nil, 7, Job{},
			templateOf(TypeField{}), templateOf(formal("main.Never")), []any{1},
		} {
			answer, err := call[[]any](t, f.address, operation, body)
			require.NoError(t, err, "%s %T", operation, body)
			require.Equal(t, []any{false, Tuple{}}, answer)
		}
	}
	for _, name := range []string{"nospace", lease.Space} {
		g := gospace.New(gospace.Config{Hub: f.Hub, Space: name, Access: foreign.Access{Write: true}})
		require.Nil(t, getP(t, f.Listen(g.Serve), "GETP_REQUEST", "x"))
	}
}

func TestTypesAreExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	put(t, f.address, 1)
	for _, other := range []any{int8(1), int16(1), int32(1), int64(1), uint(1), 1.0, "1", formal("int32"), formal("int64"), formal("uint"), formal("interface {}")} {
		require.Nil(t, getP(t, f.address, "QUERYP_REQUEST", other), "%v", other)
	}
	require.NotNil(t, getP(t, f.address, "QUERYP_REQUEST", 1))
	put(t, f.address, nil)
	require.Nil(t, getP(t, f.address, "QUERYP_REQUEST", formal("string")))
	require.NotNil(t, getP(t, f.address, "GETP_REQUEST", nil))
}

func TestForeignTypesAreKeptAndFoundByTheirPrintedName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	type inner struct{ Labels map[string][]any }
	gob.RegisterName("example.org/far/away.Thing", inner{})
	thing := inner{map[string][]any{"a": {1, "x", Job{"n", 3}}, "b": nil}}
	put(t, f.address, "thing", thing)
	stored, err := f.Repo.Space("space").QueryAll(t.Context(), tuple.Match("thing", tuple.Formal{Type: "opaque:go:away.Thing"}))
	require.NoError(t, err)
	require.Len(t, stored, 1)
	require.Contains(t, stored[0].Line(), `"name":"example.org/far/away.Thing"`)
	require.NotNil(t, getP(t, f.address, "QUERYP_REQUEST", "thing", thing), "maps have no order")
	require.Nil(t, getP(t, f.address, "QUERYP_REQUEST", "thing", inner{}))
	require.Equal(t, &Tuple{[]any{"thing", thing}}, getP(t, f.address, "GETP_REQUEST", "thing", formal("away.Thing")))
}

func TestOpaqueValuesThatAreNotOfGoArriveAsStrings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Put("space", tuple.New(tuple.New(tuple.Opaque{Name: "Job", JSON: `{"n":3}`}, tuple.Opaque{Name: "go:main.Job", JSON: "damaged"}, tuple.Opaque{Name: "pspace:byte", JSON: "-3"})))
	require.Equal(t, &Tuple{[]any{tupleOf(`{"n":3}`, "damaged", int8(-3))}}, getP(t, f.address, "GETP_REQUEST", formal("container.Tuple")))
}

func TestAReadOnlyGateOnlyQueries(t *testing.T) {
	t.Parallel()
	for name, access := range map[string]foreign.Access{"space": {}, lease.Space: {Write: true}, status.Space: {Write: true}, task.Dead: {Write: true}} {
		f := newFixtureOf(t, name, access)
		f.Put(name, tuple.New(1))
		_, err := call[bool](t, f.address, "PUT_REQUEST", tupleOf("x"))
		require.ErrorIs(t, err, io.EOF, name)
		_, err = call[Tuple](t, f.address, "GET_REQUEST", templateOf(1))
		require.ErrorIs(t, err, io.EOF, name)
		require.Nil(t, getP(t, f.address, "GETP_REQUEST", 1), name)
		require.NotNil(t, getP(t, f.address, "QUERYP_REQUEST", 1), name)
		size, err := call[int](t, f.address, "SIZE_REQUEST", "")
		require.NoError(t, err)
		require.Equal(t, 1, size)
	}
}

// FaultNN in a name is a row of the catalogue of faults in docs/testing.md.
func TestFault39BytesThatAreNoRequestEndTheirConnectionAndStoreNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	valid := request(t, "PUT_REQUEST", tupleOf("x", Job{"n", 3}))
	for name, bytes := range map[string][]byte{
		"a port scanner": nil, "HTTP": []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "TLS": []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		"zeros": make([]byte, 1000), "JSON": []byte(`{"messageType":"PUT_REQUEST"}` + "\n"), "native": []byte("LSHD\x02\x00\x00"),
		"a length of 2^62": {0xf8, 0x40, 0, 0, 0, 0, 0, 0, 0}, "random": {0x37, 0x9a, 0x11, 0xff, 0x80, 0x00, 0xfe},
	} {
		c := dial(t, f.address)
		_, err := c.Write(bytes)
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(c)
		if err == nil { // else it was reset
			require.Empty(t, answer, name)
		}
	}
	for n := range valid { // cut short
		c := dial(t, f.address)
		_, err := c.Write(valid[:n])
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	put(t, f.address, "last")
	f.AwaitCount("space", tuple.Match("last"), 1)
	size, err := call[int](t, f.address, "SIZE_REQUEST", "")
	require.NoError(t, err)
	require.Equal(t, 1, size)
	require.Zero(t, f.Hub.Panics())
}

func TestAClientThatLeavesAtAnyByteTakesNothing(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"GET_REQUEST", "GETP_REQUEST", "GETALL_REQUEST"} {
		f := newFixture(t)
		f.Put("space", tuple.New("late", 7))
		bytes := request(t, operation, templateOf("late", formal("int")))
		for n := range len(bytes) + 1 {
			c := dial(t, f.address)
			_, err := c.Write(bytes[:n])
			require.NoError(t, err)
			require.NoError(t, c.Close())
		}
		f.AwaitCount("space", tuple.Match("late", 7), 1)
	}
}

func TestAClientThatDiesBeforeItReadsTheAnswerTakesNothing(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"GET_REQUEST", "GETP_REQUEST", "GETALL_REQUEST"} {
		f := newFixture(t)
		f.Put("space", tuple.New("late", 7))
		c := dial(t, f.address)
		_, err := c.Write(request(t, operation, templateOf("late", formal("int"))))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return f.Engine.Stats().Held == 1 }, foreigntest.Wait, time.Millisecond)
		require.NoError(t, c.(*net.TCPConn).SetLinger(0)) // a reset, as when a process dies with unread data
		require.NoError(t, c.Close())
		f.AwaitCount("space", tuple.Match("late", 7), 1)
	}
}

func TestABlockedClientThatLeavesTakesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := request(t, "GET_REQUEST", templateOf("late", formal("int")))
	leaving, staying := dial(t, f.address), dial(t, f.address)
	_, err := leaving.Write(ask)
	require.NoError(t, err)
	f.AwaitWaiters(1)
	_, err = staying.Write(ask)
	require.NoError(t, err)
	f.AwaitWaiters(2)
	require.NoError(t, leaving.Close())
	f.AwaitWaiters(1)
	put(t, f.address, "late", 7)
	var got Tuple
	require.NoError(t, gob.NewDecoder(staying).Decode(&got))
	require.Equal(t, tupleOf("late", 7), got)
	require.NoError(t, staying.Close())
	f.AwaitCount("space", tuple.Match("late", 7), 0)
}
