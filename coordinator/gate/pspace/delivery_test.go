package pspace_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/tuple"
)

var (
	anyLate   = tuple.Match("late", tuple.Formal{Type: tuple.Int32})
	lateTuple = tuple.New("late", int32(7))
)

const lateTemplate = `[{"formal":false,"value":{"type":"pspace:string","value":"late"}},{"formal":true,"value":"pspace:int"}]`

// requests are the forms of a get, in keep mode and with a connection for each.
func requests() map[string]string {
	all := map[string]string{}
	for mode, session := range map[string]string{"keep": `,"clientSession":"0"`, "conn": ""} {
		for form, members := range map[string]string{"get": `"blocking":true`, "getp": `"blocking":false`, "getall": `"all":true`} {
			all[mode+" "+form] = fmt.Sprintf(`{"messageType":"GET_REQUEST","target":"space",%s,"template":%s%s}`, members, lateTemplate, session)
		}
	}
	return all
}

// forEachRequest runs a test for each form of a get, of a space with one match.
func forEachRequest(t *testing.T, test func(t *testing.T, f fixture, request string)) {
	for name, request := range requests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Put("space", lateTuple)
			test(t, f, request)
		})
	}
}

func TestAClientThatLeavesAtAnyByteTakesNothing(t *testing.T) {
	t.Parallel()
	forEachRequest(t, func(t *testing.T, f fixture, request string) {
		for n := range len(request) + 1 {
			c := f.dial()
			_, err := c.Write([]byte(request[:n]))
			require.NoError(t, err)
			require.NoError(t, c.Close())
		}
		f.AwaitCount("space", anyLate, 1)
	})
}

func TestAClientThatDiesBeforeItReadsTheAnswerTakesNothing(t *testing.T) {
	t.Parallel()
	forEachRequest(t, func(t *testing.T, f fixture, request string) {
		c := f.dial()
		c.send(request)
		require.Eventually(t, func() bool { return f.Engine.Stats().Held == 1 }, wait, tick)
		require.NoError(t, c.Conn.(*net.TCPConn).SetLinger(0)) // a reset, as when a process dies with unread data
		require.NoError(t, c.Close())
		f.AwaitCount("space", anyLate, 1)
	})
}

func TestAClientThatReadTheAnswerHasTheTuple(t *testing.T) {
	t.Parallel()
	forEachRequest(t, func(t *testing.T, f fixture, request string) {
		c := f.dial()
		require.Contains(t, c.call(request), `"late"`)
		require.NoError(t, c.Close())
		f.AwaitCount("space", anyLate, 0)
	})
}

func TestAClientThatStaysHasTheTupleAfterAWhile(t *testing.T) {
	t.Parallel()
	forEachRequest(t, func(t *testing.T, f fixture, request string) {
		require.Contains(t, f.dial().call(request), `"late"`)
		f.AwaitCount("space", anyLate, 0)
	})
}

func TestTheNextRequestConfirmsTheAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Put("space", lateTuple)
	c := f.dial()
	require.Contains(t, c.call(requests()["keep get"]), `"late"`)
	require.Contains(t, c.call(requests()["keep getp"]), `"tuples":[]`)
	require.NoError(t, c.Conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, c.Close())
	f.AwaitCount("space", anyLate, 0)
}

func TestABlockedClientThatLeavesTakesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"keep get", "conn get"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			leaving := f.dial()
			leaving.send(requests()[name])
			f.AwaitWaiters(1)
			staying := f.dial()
			staying.send(requests()[name])
			f.AwaitWaiters(2)
			require.NoError(t, leaving.Close())
			f.AwaitWaiters(1)
			f.Put("space", lateTuple)
			require.Contains(t, staying.answer(), `"late"`)
		})
	}
}
