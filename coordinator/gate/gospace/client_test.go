package gospace_test

import (
	"bytes"
	"encoding/gob"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign/foreigntest"
)

// These types have the shapes and the registered names of goSpace's, so that package
// encoding/gob writes and reads what a goSpace program does.
type (
	Tuple     struct{ Flds []interface{} }
	Template  struct{ Flds []interface{} }
	TypeField struct{ TypeStr string }
	Label     struct{ Flds []interface{} }
	Labels    map[string]Label

	message struct {
		Operation string
		T         interface{}
	}

	// Job is a type of a program.
	Job struct {
		Name string
		N    int
	}
)

// init registers the types under the names that goSpace's clients use.
func init() {
	const container = "github.com/pspaces/gospace/container."
	gob.RegisterName(container+"Tuple", Tuple{})
	gob.RegisterName(container+"Template", Template{})
	gob.RegisterName(container+"TypeField", TypeField{})
	gob.RegisterName(container+"Label", Label{})
	gob.RegisterName(container+"Labels", Labels{})
	gob.RegisterName("main.Job", Job{})
	gob.Register([]interface{}{})
	gob.Register(map[string]int{})
}

func tupleOf(fields ...any) Tuple { return Tuple{fields} }

func templateOf(fields ...any) Template { return Template{fields} }

func formal(name string) TypeField { return TypeField{name} }

// request returns the bytes of a request.
func request(t testing.TB, operation string, body any) []byte {
	var b bytes.Buffer
	require.NoError(t, gob.NewEncoder(&b).Encode(message{operation, body}))
	return b.Bytes()
}

// dial opens a connection that the test closes, and on which all fails after foreigntest.Wait.
func dial(t testing.TB, address string) net.Conn {
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(foreigntest.Wait)))
	return c
}

// call sends a request over a connection of its own, and decodes the answer.
func call[A any](t testing.TB, address, operation string, body any) (answer A, err error) {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	_, err = c.Write(request(t, operation, body))
	require.NoError(t, err)
	return answer, gob.NewDecoder(c).Decode(&answer)
}

// put puts a tuple as goSpace does, and requires the answer true.
func put(t testing.TB, address string, fields ...any) {
	t.Helper()
	ok, err := call[bool](t, address, "PUT_REQUEST", tupleOf(fields...))
	require.NoError(t, err)
	require.True(t, ok)
}

// getP returns the tuple that matches; nil if there is none.
func getP(t testing.TB, address, operation string, fields ...any) *Tuple {
	t.Helper()
	answer, err := call[[]any](t, address, operation, templateOf(fields...))
	require.NoError(t, err)
	require.Len(t, answer, 2)
	found := answer[1].(Tuple)
	if !answer[0].(bool) {
		require.Equal(t, Tuple{}, found)
		return nil
	}
	return &found
}
