package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// realm is several coordinators. One serves, and the others name owner, or the one that serves if it is empty.
type realm struct {
	servers  []*httptest.Server
	requests []atomic.Int64 // to each
	serving  atomic.Int64
	owner    string
	then     func() // called once the coordinators have got so many requests
	total    atomic.Int64
	when     atomic.Int64
}

// after has do called once the coordinators have got n more requests.
func (r *realm) after(n int64, do func()) {
	r.then = do
	r.when.Store(r.total.Load() + n)
}

// newRealm starts n coordinators. The last one serves with answer.
func newRealm(t *testing.T, n int, answer http.HandlerFunc) (*realm, *client.Client) {
	t.Helper()
	r := &realm{requests: make([]atomic.Int64, n)}
	r.serving.Store(int64(n - 1))
	var urls []string
	for i := range n {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r.requests[i].Add(1)
			if r.total.Add(1) == r.when.Load() {
				r.then()
			}
			if serving := r.serving.Load(); serving != int64(i) {
				owner := r.owner
				if owner == "" {
					owner = r.servers[serving].URL
				}
				w.Header().Set("Connection", "close")
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintf(w, `{"code":"unavailable","detail":"stands by","owner":%q}`, owner)
				return
			}
			answer(w, q)
		}))
		t.Cleanup(s.Close)
		r.servers, urls = append(r.servers, s), append(urls, s.URL)
	}
	c, err := client.New(strings.Join(urls, ", "))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return r, c
}

// count returns how many requests each coordinator got.
func (r *realm) count() (n []int64) {
	for i := range r.requests {
		n = append(n, r.requests[i].Load())
	}
	return n
}

func TestACallGoesToTheOwnerThatOneNames(t *testing.T) {
	t.Parallel()
	r, c := newRealm(t, 4, respond("{}"))
	_, err := c.Put(t.Context(), "s", "x", 0) // has no operation id
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0, 0, 1}, r.count(), "the others are not asked")
	require.Equal(t, r.servers[3].URL, c.Base())
	_, err = c.Put(t.Context(), "s", "x", 0)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0, 0, 2}, r.count(), "the client stays there")
	r.serving.Store(1)
	_, err = c.Search(t.Context(), types.SearchQuery{Query: "x"}, func(types.CodeMatch) bool { return true })
	require.ErrorIs(t, err, fault.ErrUnavailable, "its answer has no end")
	require.Equal(t, []int64{1, 1, 0, 3}, r.count())
}

// No coordinator serves until they have received some requests.
func TestACallWaitsForATakeOver(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*realm){
		"all stand by":      func(*realm) {},
		"the owner is gone": func(r *realm) { r.servers[0].Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := newRealm(t, 3, respond("{}"))
			r.serving.Store(0)
			require.NoError(t, c.Alive(t.Context()))
			first(r)
			r.serving.Store(-1)
			r.owner = r.servers[0].URL
			r.after(6, func() { r.serving.Store(2) })
			require.NoError(t, c.Alive(t.Context()))
			require.Equal(t, r.servers[2].URL, c.Base())
			r.serving.Store(-1)
			r.after(6, func() { r.serving.Store(1) })
			_, err := c.Put(t.Context(), "s", "x", 0) // has no operation id, but was not executed
			require.NoError(t, err)
		})
	}
	r, c := newRealm(t, 2, respond("{}"))
	r.serving.Store(-1)
	r.owner = r.servers[0].URL
	ctx, cancel := context.WithCancelCause(t.Context())
	r.after(20, func() { cancel(io.EOF) })
	require.Equal(t, io.EOF, c.Alive(ctx), "a call that waits ends with its context")
}

func TestAnOwnerThatIsNotOfTheClientIsNotCalled(t *testing.T) {
	t.Parallel()
	r, c := newRealm(t, 3, respond("{}"))
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the stray owner was called") }))
	t.Cleanup(stray.Close)
	r.owner = stray.URL
	require.NoError(t, c.Alive(t.Context()))
	require.Equal(t, []int64{1, 1, 1}, r.count(), "the next ones are asked in turn")
}

func TestACallThatMayHaveHappenedIsNotRepeatedElsewhere(t *testing.T) {
	t.Parallel()
	r, c := newRealm(t, 2, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	r.serving.Store(0)
	_, err := c.Put(t.Context(), "s", "x", 0)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, []int64{1, 0}, r.count())
	r.servers[0].Close()
	r.serving.Store(1)
	_, err = c.Put(t.Context(), "s", "x", 0)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, []int64{1, 1}, r.count(), "one that was not sent is")
}

func TestTheErrorOfTheCoordinatorThatServesIsTold(t *testing.T) {
	t.Parallel()
	r, c := newRealm(t, 3, refuse(http.StatusServiceUnavailable, "unavailable", "the disk is full"))
	r.serving.Store(1)
	_, err := c.Put(t.Context(), "s", "x", 0)
	require.EqualError(t, err, "the disk is full")
	require.Equal(t, []int64{1, 1, 0}, r.count(), "a coordinator that serves may have executed it")
	require.EqualError(t, c.Alive(t.Context()), "the disk is full")
	require.Equal(t, []int64{2, 2, 1}, r.count(), "a question is asked everywhere")
	_, err = client.New("http://127.0.0.1:1,")
	require.ErrorIs(t, err, fault.ErrInvalid)
}
