package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/api/types"
)

// dribble sends the head of a request, and then its body at one byte a second until the
// server closes the connection. It returns how long that took.
func dribble(t *testing.T, ln pipes, path string) (open time.Duration) {
	client, far := net.Pipe()
	ln.conns <- far
	defer client.Close()
	began := time.Now()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	_, err := fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", v1+path)
	for ; err == nil; _, err = io.WriteString(client, " ") {
		<-time.After(time.Second)
	}
	return time.Since(began)
}

// servePipes serves the handler at a listener of pipes, which a synctest bubble can wait for,
// until stop is called.
func (h *fixture) servePipes() (ln pipes, stop func()) {
	h.server.Close()
	ln = pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(h.Context())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, ln, h.server.Config.Handler) }()
	return ln, func() { cancel(); require.NoError(h, <-served) }
}

// Each of 300 connections sends a body slowly, and begins again when it is closed; the
// fleet's calls, those of a command, and health go on without a delay.
func TestBodiesThatComeSlowlyTakeNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		var crowd sync.WaitGroup
		for n := range 300 {
			crowd.Go(func() {
				for range 3 {
					require.Less(t, dribble(t, ln, []string{"/tasks", "/catalog/ingest", "/catalog/curate", "/sessions/s/claims"}[n%4]), 10*time.Second)
				}
			})
		}
		<-time.After(time.Second) // all of them have begun
		require.Equal(t, 200, h.record("POST", v1+"/catalog/origins", `{"id":"o","kind":"api","uri":"u","priority":0}`))
		for range 10 {
			began := time.Now()
			for _, x := range [][2]string{
				{"/catalog/origins", `{"id":"o","kind":"api","uri":"u","priority":0}`}, {"/catalog/curate", `{"origin":"o","at":"2026-01-01T00:00:00Z"}`},
				{"/tasks", `{"action":"x"}`},
			} {
				status := h.record("POST", v1+x[0], x[1])
				require.Less(t, status, 300, x[0])
			}
			require.Equal(t, 200, h.record("GET", "/readyz", ""))
			require.Equal(t, 200, h.record("GET", v1+"/origins", ""))
			require.Less(t, time.Since(began), time.Millisecond)
			<-time.After(time.Second)
		}
		crowd.Wait()
		stop()
	})
}

// record serves a request without a connection, and returns the status.
func (h *fixture) record(method, path, body string) int {
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(h.Context(), method, "http://localhost"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	h.server.Config.Handler.ServeHTTP(w, r)
	return w.Code
}

func TestManagersAndHealthHaveSlotsOfTheirOwn(t *testing.T) {
	t.Parallel()
	begun, free := make(chan struct{}, api.MaxInFlight), make(chan struct{})
	h := newFixtureWith(t, func(c *api.Config) {
		c.Catalog = faultyCatalog{c.Catalog, func(context.Context) ([]models.Clip, error) {
			begun <- struct{}{}
			<-free
			return nil, nil
		}}
	})
	var clients sync.WaitGroup
	for range api.MaxInFlight {
		clients.Go(func() { h.record("GET", v1+"/clips", "") })
	}
	for range api.MaxInFlight {
		<-begun
	}
	require.Equal(t, 507, h.record("GET", v1+"/origins", ""))
	require.Equal(t, 200, h.record("POST", v1+"/catalog/origins", `{"id":"o","kind":"api","uri":"u","priority":0}`))
	require.Equal(t, 200, h.record("POST", v1+"/catalog/curate", `{"origin":"o","at":"2026-01-01T00:00:00Z"}`))
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		require.Equal(t, 200, h.record("GET", path, ""))
	}
	close(free)
	clients.Wait()
}

func TestAPeerHasAtMost64RequestsAtATime(t *testing.T) {
	t.Parallel()
	const quota = 64
	begun, free := make(chan struct{}, quota), make(chan struct{})
	h := newFixtureWith(t, func(c *api.Config) {
		c.Catalog = faultyCatalog{c.Catalog, func(context.Context) ([]models.Clip, error) {
			begun <- struct{}{}
			<-free
			return nil, nil
		}}
	})
	from := func(ip, path string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path, nil)
		r.RemoteAddr = ip + ":40000"
		h.server.Config.Handler.ServeHTTP(w, r)
		return w.Code
	}
	var clients sync.WaitGroup
	for range quota {
		clients.Go(func() { from("192.0.2.1", v1+"/clips") })
	}
	for range quota {
		<-begun
	}
	require.Equal(t, 507, from("192.0.2.1", v1+"/origins"))
	require.Equal(t, 200, from("192.0.2.1", "/readyz"))
	for _, other := range []string{"192.0.2.2", "127.0.0.1"} {
		require.Equal(t, 200, from(other, v1+"/origins"))
	}
	close(free)
	clients.Wait()
	require.Equal(t, 200, from("192.0.2.1", v1+"/origins"))
}

// The bodies that are read take no more memory than the budget; another one is
// refused with a time to retry, and managers' bodies have a budget of their own.
func TestTheBytesOfBodiesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		const size = 1 << 20
		send := func(path string, body []byte) (net.Conn, *bufio.Reader) {
			client, far := net.Pipe()
			ln.conns <- far
			_, err := fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", v1+path, size)
			require.NoError(t, err)
			go func() { _, _ = client.Write(body) }()
			return client, bufio.NewReader(client)
		}
		part := make([]byte, size-1) // the last byte does not come
		var open []net.Conn
		for range 64 {
			c, _ := send("/tasks", part)
			open = append(open, c)
		}
		synctest.Wait()
		c, answer := send("/tasks", part)
		open = append(open, c)
		resp, err := http.ReadResponse(answer, nil)
		require.NoError(t, err)
		var p types.Problem
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&p))
		require.EqualValues(t, "overloaded", p.Code)
		require.Equal(t, "1", resp.Header.Get("Retry-After"))
		require.Equal(t, 200, h.record("POST", v1+"/catalog/origins", `{"id":"o","kind":"api","uri":"u","priority":0}`))
		for _, c := range open {
			require.NoError(t, c.Close())
		}
		synctest.Wait()
		require.Equal(t, 201, h.record("POST", v1+"/tasks", `{"action":"x"}`), "their bytes are given back")
		stop()
	})
}
