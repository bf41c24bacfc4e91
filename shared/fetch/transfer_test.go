package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/build"
)

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func encodedAs(how string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", how)
		_, _ = w.Write(content)
	}
}

func TestFault49GzipBombEndsAtItsRatio(t *testing.T) {
	t.Parallel()
	s := serve(t, encodedAs("gzip", zipped(t, make([]byte, 64<<20))))
	f := open(t, Config{})
	_, err := f.Document(t.Context(), s.URL, 128<<20)
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.ErrorContains(t, err, "when decoded")
	_, err = f.Fetch(t.Context(), ref(s.URL))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.Empty(t, partials(t, f))
}

// A short page may consist of spaces, and a long text compresses well.
func TestABodyThatGrowsALotIsReadIfItIsShortOrGrowsNoMoreThanText(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("0123456789abcdef"), 5<<14)
	for i := range text {
		if i%100 == 0 {
			text[i] = byte(i / 100)
		}
	}
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"a short one":  {make([]byte, 100_000), nil},
		"the longest":  {make([]byte, 1<<20), nil},
		"a longer one": {make([]byte, 1<<20+1<<19), fault.ErrTooLarge},
		"a long text":  {text, nil},
	} {
		s := serve(t, encodedAs("gzip", zipped(t, c.content)))
		got, err := open(t, Config{}).Document(t.Context(), s.URL, 1<<24)
		require.ErrorIs(t, err, c.want, name)
		if c.want == nil {
			require.True(t, bytes.Equal(c.content, got), name)
		}
	}
}

func TestFault49EndlessBodyEndsAtTheLimitAndLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	f := open(t, Config{MaxBytes: 1 << 20})
	_, err := f.Fetch(t.Context(), ref(s.URL))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.Empty(t, partials(t, f))
	_, err = f.Document(t.Context(), s.URL, 1<<20)
	require.ErrorIs(t, err, fault.ErrTooLarge)
}

func TestFault49AnAnnouncedSizeIsRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", r.URL.Path[1:]) })
	f := open(t, Config{})
	for size, want := range map[string]error{"2130000000": fault.ErrUnavailable, "2200000000": fault.ErrTooLarge, "4000000000": fault.ErrTooLarge} {
		_, err := f.Fetch(t.Context(), ref(s.URL+"/"+size))
		require.ErrorIs(t, err, want, "4 hours of sound take 2,130 MB, and the server closes the connection")
		require.Equal(t, want == fault.ErrTooLarge, strings.Contains(err.Error(), "announces "+size+" bytes"), "%v", err)
	}
}

func TestABodyReturnsNothingBesideAnErrorAndNothingPastItsLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how     string
		content []byte
		want    error
	}{
		"not gzip": {"gzip", []byte("a text without a header"), fault.ErrCorrupt},
		"too long": {"", make([]byte, 2<<20+1), fault.ErrTooLarge},
		"a bomb":   {"gzip", zipped(t, make([]byte, 2<<20)), fault.ErrTooLarge},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		stall := newStallTimer(time.Minute, stop)
		r := &http.Response{Header: http.Header{"Content-Encoding": {c.how}}, Body: io.NopCloser(bytes.NewReader(c.content))}
		b, err := newBody(ctx, r, stall, 2<<20)
		require.NoError(t, err)
		all, n := 0, 0
		for err == nil {
			all += n
			n, err = b.Read(make([]byte, 4<<20))
		}
		require.ErrorIs(t, err, c.want, name)
		require.Zero(t, n, name)
		require.LessOrEqual(t, all, 2<<20, name)
		stall.stop()
		stop(nil)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a feed of some sort. ", 1000))
	good := zipped(t, text)
	bad := bytes.Clone(good)
	bad[len(bad)-6] ^= 0xff // the checksum
	damaged := append(bytes.Clone(good[:10]), 0xff, 0xff, 0xff, 0xff)
	for name, c := range map[string]struct {
		how     string
		content []byte
		want    error
	}{
		"gzip":          {"gzip", good, nil},
		"identity":      {"identity", text, nil},
		"upper case":    {" X-GZIP ", good, nil},
		"brotli":        {"br", text, fault.ErrInvalid},
		"twice":         {"gzip, gzip", good, fault.ErrInvalid},
		"not gzip":      {"gzip", text, fault.ErrCorrupt},
		"bad checksum":  {"gzip", bad, fault.ErrCorrupt},
		"damaged":       {"gzip", damaged, fault.ErrCorrupt},
		"cut off":       {"gzip", good[:len(good)/2], fault.ErrUnavailable},
		"nothing there": {"gzip", nil, fault.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, encodedAs(c.how, c.content))
			content, err := open(t, Config{}).Document(t.Context(), s.URL, 1<<20)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				require.NotErrorIs(t, err, io.EOF, "that would be the end of a complete body")
				return
			}
			require.NoError(t, err)
			require.Equal(t, text, content)
		})
	}
}

func TestStatusGivesTheKindOfError(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{
		404: fault.ErrNotFound, 410: fault.ErrNotFound, 500: fault.ErrUnavailable, 503: fault.ErrUnavailable,
		429: fault.ErrUnavailable, 408: fault.ErrUnavailable, 403: fault.ErrInvalid, 401: fault.ErrInvalid,
		425: fault.ErrUnavailable, 499: fault.ErrInvalid, 599: fault.ErrUnavailable, 203: nil,
		204: fault.ErrInvalid, 206: fault.ErrInvalid, 304: fault.ErrUnavailable,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := open(t, Config{}).Fetch(t.Context(), ref(s.URL+"/a.mp3"))
		require.ErrorIs(t, err, want, status)
		if want == nil {
			continue
		}
		require.ErrorContains(t, err, fmt.Sprint(status))
		require.ErrorContains(t, err, s.URL+"/a.mp3")
	}
}

func TestAValidatorThatIsTooLongIsNotKept(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{0: 0, maxValidator: maxValidator, maxValidator + 1: 0} {
		r := &http.Response{Header: http.Header{"Etag": {strings.Repeat("x", length)}}}
		require.Len(t, (&transfer{Response: r}).validator("ETag"), want)
	}
}

func TestABodyOfTheMostThatIsAllowedIsReadAndOneByteMoreIsRefused(t *testing.T) {
	t.Parallel()
	const most = 2000
	local := filepath.Join(t.TempDir(), "local")
	for length, want := range map[int]error{0: nil, most: nil, most + 1: fault.ErrTooLarge} {
		content := bytes.Repeat([]byte("x"), length)
		require.NoError(t, os.WriteFile(local, content, 0o600))
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/announced":
				w.Header().Set("Content-Length", fmt.Sprint(length))
			case "/streamed":
				require.NoError(t, http.NewResponseController(w).Flush())
			case "/gzip":
				encodedAs("gzip", zipped(t, content))(w, r)
				return
			}
			_, _ = w.Write(content)
		})
		f := open(t, Config{MaxBytes: most, Roots: []string{filepath.Dir(local)}})
		for _, uri := range []string{s.URL + "/announced", s.URL + "/streamed", s.URL + "/gzip", FileURI(local)} {
			got, err := f.Document(t.Context(), uri, most)
			require.ErrorIs(t, err, want, "%s of %d bytes", uri, length)
			if want == nil {
				require.Equal(t, string(content), string(got), uri)
			} else {
				require.ErrorContains(t, err, uri)
			}
			if file, err := f.Fetch(t.Context(), ref(uri)); want == nil || uri == FileURI(local) { // local files are not limited
				require.NoError(t, err, uri)
				require.EqualValues(t, length, file.Bytes)
				require.NoError(t, file.Close())
			} else if uri != s.URL+"/gzip" {
				require.ErrorIs(t, err, want, uri)
			}
		}
	}
}

func TestAPostSendsItsContentAndReturnsTheBeginningOfTheAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, build.UserAgent(""), r.Header.Get("User-Agent"))
		content, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Content-Type"), content)
	})
	f := open(t, Config{})
	for most, want := range map[int64]string{100: "POST text/plain hello", 21: "POST text/plain hello", 4: "POST", 0: ""} {
		answer, err := f.Post(t.Context(), s.URL, http.Header{"Content-Type": {"text/plain"}}, []byte("hello"), most)
		require.NoError(t, err)
		require.Equal(t, want, string(answer))
	}
}

func TestEachKindOfRequestReportsItsFailureWithTheURL(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/busy":
			w.WriteHeader(http.StatusBadGateway)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("short"))
		}
	})
	f := open(t, Config{})
	for name, request := range map[string]func(uri string) error{
		"document": func(uri string) error { _, err := f.Document(t.Context(), uri, 1000); return err },
		"page":     func(uri string) error { _, err := f.Page(t.Context(), uri, models.Known{}, "", 1000); return err },
		"post":     func(uri string) error { _, err := f.Post(t.Context(), uri, http.Header{}, nil, 1000); return err },
		"head":     func(uri string) error { _, _, err := f.Head(t.Context(), uri); return err },
		"fetch":    func(uri string) error { _, err := f.Fetch(t.Context(), ref(uri)); return err },
	} {
		for uri, want := range map[string]error{
			s.URL + "/gone": fault.ErrNotFound, s.URL + "/busy": fault.ErrUnavailable, s.URL + "/cut": fault.ErrUnavailable, unused + "/x": fault.ErrUnavailable,
			"http://10.0.0.1/": fault.ErrInvalid, "ftp://example.org/": fault.ErrInvalid, "file:///etc/passwd": fault.ErrInvalid,
		} {
			if err := request(uri); name != "head" || uri != s.URL+"/cut" { // a head has no body
				require.ErrorIs(t, err, want, "%s %s", name, uri)
				if scheme, _, _ := strings.Cut(uri, "://"); name != "post" || scheme == "http" {
					require.Equal(t, 1, strings.Count(err.Error(), uri), "%s: %v", name, err)
				}
			}
		}
	}
}

// unused is an address without a listener, because the system does not assign its port.
const unused = "http://127.0.0.1:1"

func TestConnectionErrorsAreTransient(t *testing.T) {
	t.Parallel()
	cut := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("short"))
	})
	reset := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f := open(t, Config{})
	for _, uri := range []string{unused, cut.URL, reset.URL} {
		_, err := f.Fetch(t.Context(), ref(uri))
		require.ErrorIs(t, err, fault.ErrUnavailable)
	}
	require.Empty(t, partials(t, f))
}

func TestRedirectsAreCounted(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n := len(r.URL.Path); n < 7 { // "/" to "/xxxxxx": six redirects
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
			return
		}
		respond("there")(w, r)
	})
	f := open(t, Config{})
	_, err := f.Document(t.Context(), s.URL+"/", 100)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "more than 5 redirects")
	content, err := f.Document(t.Context(), s.URL+"/x", 100)
	require.NoError(t, err)
	require.Equal(t, "there", string(content))
}

func TestServersThatRedirectToOneAnotherEnd(t *testing.T) {
	t.Parallel()
	var one, other *httptest.Server
	one = serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	other = serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, one.URL, http.StatusMovedPermanently)
	})
	_, err := open(t, Config{}).Document(t.Context(), one.URL, 100)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "more than 5 redirects")
}

func TestSecretsInURLsAreNotPrinted(t *testing.T) {
	t.Parallel()
	s := serve(t, http.NotFound)
	uri := strings.Replace(s.URL, "http://", "http://user:hunter2@", 1)
	_, err := open(t, Config{}).Fetch(t.Context(), ref(uri))
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.NotContains(t, err.Error(), "hunter2")
}

// script dials a server on a pipe that sends lines, with pauses between them.
func script(ctx context.Context, f *Fetcher, pause time.Duration, lines ...string) {
	f.client.Transport.(polite).Transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			_, _ = server.Read(make([]byte, 4096))
			for _, line := range lines {
				if _, err := server.Write([]byte(line)); err != nil {
					return
				}
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return
				}
			}
		}()
		return client, nil
	}
}

// inPieces returns a body of n bytes in pieces of the given size; the last may be smaller.
func inPieces(n, size int) (pieces []string) {
	for ; n > 0; n -= size {
		pieces = append(pieces, strings.Repeat("x", min(n, size)))
	}
	return pieces
}

func TestFault49TransferWithoutProgressEnds(t *testing.T) {
	for name, c := range map[string]struct {
		pause time.Duration
		lines []string
		ok    bool
	}{
		"no answer":     {time.Hour, []string{""}, false},
		"body stops":    {time.Hour, []string{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"}, false},
		"slow but sure": {9 * time.Minute, []string{"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n", strings.Repeat("x", 10000), strings.Repeat("x", 10000)}, true},
		"late header":   {9 * time.Minute, []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n", strings.Repeat("x", 20000)}, true},
		"just enough":   {9 * time.Minute, append([]string{"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"}, inPieces(20000, stallBytes)...), true},
		"too little":    {9 * time.Minute, append([]string{"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"}, inPieces(20000, stallBytes-1)...), false},
		"drips":         {9 * time.Minute, append([]string{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"}, strings.Split(strings.Repeat("x", 100), "")...), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				f, err := New(Config{Dir: dir, AllowPrivate: []string{"127.0.0.1"}})
				require.NoError(t, err)
				script(t.Context(), f, c.pause, c.lines...)
				file, err := f.Fetch(t.Context(), ref("http://127.0.0.1/a.mp3"))
				require.NoError(t, f.Close())
				require.Empty(t, partials(t, f))
				if c.ok {
					require.NoError(t, err)
					require.EqualValues(t, 20000, file.Bytes)
					return
				}
				require.ErrorIs(t, err, fault.ErrUnavailable)
				require.ErrorContains(t, err, "no progress for 10m0s")
			})
		})
	}
}
