package fetch

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestATransferThatIsNotReadToItsEndLeavesNoConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		want   error
	}{
		"an error of the server": {http.StatusInternalServerError, nil},
		"a missing file":         {http.StatusNotFound, fault.ErrNotFound},
		"a body that is too big": {http.StatusOK, fault.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write(make([]byte, 4096))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // a body without an end
				close(ended)
			})
			f := open(t, Config{})
			_, err := f.Document(t.Context(), s.URL, 1024)
			require.Error(t, err)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Error("the connection is open though its transfer has ended")
				s.CloseClientConnections()
			}
		})
	}
}

func TestAPostThatReadsTheBeginningLeavesNoConnection(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 4096))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	})
	answer, err := open(t, Config{}).Post(t.Context(), s.URL, http.Header{}, nil, 10)
	require.NoError(t, err)
	require.Len(t, answer, 10)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the connection is open though the answer was read")
		s.CloseClientConnections()
	}
}

func TestAStreamThatIsClosedLeavesNoConnection(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(w http.ResponseWriter, r *http.Request){
		"whole": func(http.ResponseWriter, *http.Request) {},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"failed": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	} {
		s, closed := serveCounted(t, write)
		stream, err := Stream(t.Context(), s.URL)
		if name == "failed" {
			require.ErrorIs(t, err, fault.ErrNotFound)
		} else {
			require.NoError(t, err, name)
			if name == "whole" {
				_, err = io.ReadAll(stream)
				require.NoError(t, err)
			}
			require.NoError(t, stream.Close())
		}
		requireClosed(t, s, closed, name)
	}
	_, err := Stream(t.Context(), "https"+unused[len("http"):])
	require.ErrorIs(t, err, fault.ErrUnavailable, "https is accepted too")
}

func TestAFetcherThatIsClosedLeavesNoConnection(t *testing.T) {
	t.Parallel()
	s, closed := serveCounted(t, respond("x"))
	f := open(t, Config{})
	_, err := f.Document(t.Context(), s.URL, 10)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	requireClosed(t, s, closed, "fetcher")
}

// serveCounted starts a server, which sends a value to closed for each connection that ends.
func serveCounted(t *testing.T, h http.HandlerFunc) (s *httptest.Server, closed chan bool) {
	t.Helper()
	closed = make(chan bool, 10)
	s = httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- true
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, closed
}

// requireClosed fails unless a connection of s ends soon.
func requireClosed(t *testing.T, s *httptest.Server, closed chan bool, name string) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Errorf("%s: the connection is open", name)
		s.CloseClientConnections()
	}
}
