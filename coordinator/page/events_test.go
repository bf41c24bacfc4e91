package page_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
)

// event reads the next event of a stream: its name, its data, and the time of its state.
func event(t *testing.T, r *bufio.Reader) (name, data string, at time.Time) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && name != "":
			return name, data, at
		case strings.HasPrefix(line, "id: "):
			at, err = time.Parse(time.RFC3339, line[len("id: "):])
			require.NoError(t, err)
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		}
	}
}

func TestTheStreamSendsThePageWhenItChangesAndElseItsTime(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setState("idle")
	server := httptest.NewServer(h.handler)
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave() // because the server waits for the stream
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/events?page=/workers", nil)
	require.NoError(t, err)
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	stream := bufio.NewReader(resp.Body)
	name, data, at := event(t, stream)
	require.Equal(t, "main", name)
	require.Contains(t, data, "idle")
	for range 2 { // nothing changes: the age of a time is not a change
		name, _, later := event(t, stream)
		require.Equal(t, "at", name)
		require.True(t, later.After(at))
		at = later
	}
	h.setState("Working on: research 9c1e")
	for name == "main" && !strings.Contains(data, "Working on: research 9c1e") || name == "at" {
		name, data, _ = event(t, stream)
	}
	require.Equal(t, "main", name)
}

// pipes is a listener whose connections have no buffer.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p.conns); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestFault37AVisitorThatNeverReadsIsDisconnectedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, neverReads)
}

func neverReads(t *testing.T) {
	h := newFixture(t)
	h.setState("idle")
	ended := make(chan string, 2)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.handler.ServeHTTP(w, r)
		ended <- r.Header.Get("Name")
	})
	ln := pipes{make(chan net.Conn)}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, ln, handler) }()
	dial := func(name string) net.Conn {
		ours, theirs := net.Pipe()
		ln.conns <- theirs
		_, err := fmt.Fprintf(ours, "GET /events?page=/workers HTTP/1.1\r\nHost: localhost\r\nName: %s\r\n\r\n", name)
		require.NoError(t, err)
		return ours
	}
	reader := dial("reader")
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	silent := dial("silent")
	require.Equal(t, "silent", <-ended)
	stop() // ends the stream of the other visitor
	require.Equal(t, "reader", <-ended)
	require.NoError(t, <-served)
	require.NoError(t, silent.Close())
	require.NoError(t, reader.Close())
}

// At the limit of followers, further ones are refused at once, and those that follow see a
// change as soon as before.
func TestFollowersPastTheLimitAreRefusedAndDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.setState("idle")
		ln := pipes{make(chan net.Conn)}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- api.Serve(ctx, ln, h.handler) }()
		follow := func() (net.Conn, *http.Response) {
			ours, theirs := net.Pipe()
			ln.conns <- theirs
			_, err := io.WriteString(ours, "GET /events?page=/workers HTTP/1.1\r\nHost: localhost\r\n\r\n")
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
			require.NoError(t, err)
			return ours, resp
		}
		var conns []net.Conn
		const limit, surplus = 200, 100
		changed := make(chan time.Time, limit)
		for range limit {
			c, resp := follow()
			require.Equal(t, http.StatusOK, resp.StatusCode)
			conns = append(conns, c)
			go func() {
				for stream := bufio.NewReader(resp.Body); ; {
					line, err := stream.ReadString('\n')
					if strings.Contains(line, "Working on: research 9c1e") {
						changed <- time.Now()
					}
					if err != nil {
						return
					}
				}
			}()
		}
		for range surplus {
			c, resp := follow()
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			require.NotEmpty(t, resp.Header.Get("Retry-After"))
			conns = append(conns, c)
		}
		began := time.Now()
		h.setState("Working on: research 9c1e")
		for range limit {
			require.LessOrEqual(t, (<-changed).Sub(began), 2*time.Second)
		}
		stop()
		require.NoError(t, <-served)
		for _, c := range conns {
			require.NoError(t, c.Close())
		}
	})
}

func TestTheStreamTellsThatATaskIsGone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	defer server.Close()
	for path, want := range map[string]string{"/tasks/none": "event: gone\ndata: gone\n\n", "/code?q=main": ""} { // results are not live
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/events?page="+url.QueryEscape(path), nil)
		require.NoError(t, err)
		resp, err := server.Client().Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, string(text))
	}
	for _, page := range []string{"", "tasks", "https://evil.example/", "//evil.example/", "/events?page=/", "%zz"} {
		require.Equal(t, http.StatusBadRequest, h.request("GET", "/events?"+url.Values{"page": {page}}.Encode(), "", nil).Code, page)
	}
}

func TestRequestsOfThePageItselfAreNotMeasured(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.shows("/workers")
	require.NotContains(t, h.get("/metrics").Body.String(), `route="GET /api/v1/status"`)
	require.Contains(t, h.get("/metrics").Body.String(), `route="/"`)
}
