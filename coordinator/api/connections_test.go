package api_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
)

// ask sends a request over an own connection, which stays open until the test ends.
func ask(t *testing.T, address, path string) (answer func() string) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	answers := make(chan string, 1)
	go func() {
		r, err := (&http.Client{Transport: transport}).Get("http://" + address + path)
		if err != nil {
			answers <- err.Error()
			return
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		answers <- string(body)
	}()
	return func() string { return <-answers }
}

func TestAnIdleConnectionGivesItsPlaceToANewOne(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	begun, release := make(chan struct{}, 10), make(chan struct{})
	served := make(chan error, 1)
	go func() {
		served <- api.ServeUpTo(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				begun <- struct{}{}
				<-release
			}
			_, _ = io.WriteString(w, r.URL.Path)
		}), 2, nil)
	}()
	at := ln.Addr().String()
	for range 5 { // each keeps its connection
		require.Equal(t, "/now", ask(t, at, "/now")())
	}
	waiting := []func() string{ask(t, at, "/wait"), ask(t, at, "/wait")}
	<-begun
	<-begun
	next := ask(t, at, "/now")
	release <- struct{}{}
	require.Equal(t, "/now", next(), "it has a place when a request has ended")
	close(release)
	for _, answer := range waiting {
		require.Equal(t, "/wait", answer())
	}
	stop()
	require.NoError(t, <-served)
}

func TestAConnectionThatHasSentNothingGivesItsPlaceToANewOne(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := ln.Addr().String()
	begun, err := net.Dial("tcp", at)
	require.NoError(t, err)
	_, err = io.WriteString(begun, "GET /slow HTTP/1.1\r\nHost: "+at+"\r\nConnection: close\r\n")
	require.NoError(t, err)
	var silent []net.Conn
	for range 20 {
		c, err := net.Dial("tcp", at)
		require.NoError(t, err)
		silent = append(silent, c)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- api.ServeUpTo(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.URL.Path)
		}), 2, nil)
	}()
	inTime, cancel := context.WithTimeout(ctx, 4*time.Second) // a place that waits for a timeout of the server takes longer
	defer cancel()
	r, err := http.NewRequestWithContext(inTime, http.MethodGet, "http://"+at+"/now", http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	_, err = silent[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the oldest was closed")
	_, err = io.WriteString(begun, "\r\n")
	require.NoError(t, err)
	all, err := io.ReadAll(begun)
	require.NoError(t, err)
	require.Contains(t, string(all), "/slow", "a connection whose request has begun keeps its place")
	for _, c := range append(silent, begun) {
		require.NoError(t, c.Close())
	}
	stop()
	require.NoError(t, <-served)
}

func TestAClientOfAnotherProtocolIsToldInItsOwn(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- api.ServeUpTo(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}), 10, nil)
	}()
	const words = "leasehold: this port does not speak the protocol of this client, only HTTP: check the address\n"
	for head, want := range map[string]string{
		"\x28\x7f\x03\x01\x01\x07Message":    words,
		"*1\r\n$4\r\nPING\r\n":               words,
		"\x00\x00\x00\x00\x00\x00\x00\x00":   words,
		`{"messageType":"GET_REQUEST"}`:      `{"messageType":"FAILURE"`,
		"LSHD\x01":                           "use the address of its gate",
		"\x16\x03\x01\x00\x02":               "\x15\x03\x01\x00\x02\x02\x28",
		"SSH-2.0-x\r\n":                      "HTTP/1.1 400 Bad Request",
		"BREW / HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.1 200 OK",
	} {
		c, err := net.Dial("tcp", ln.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(c, head)
		require.NoError(t, err)
		buf := make([]byte, 1024)
		n, err := c.Read(buf)
		require.NoError(t, err, "%q", head)
		require.Contains(t, string(buf[:n]), want, "%q", head)
		require.NoError(t, c.Close())
	}
	stop()
	require.NoError(t, <-served)
}
