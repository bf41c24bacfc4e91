package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// unread sends a request over a connection whose answer stays unread. It returns the connection.
func unread(t *testing.T, ln pipes, method, path, body string) net.Conn {
	t.Helper()
	client, far := net.Pipe() // without a buffer: the first byte of the answer waits for its reader
	ln.conns <- far
	_, err := fmt.Fprintf(client, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// answerOf reads the answer of a connection.
func answerOf(t *testing.T, c net.Conn) string {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(body)
}

// idOf returns the id of the session that an answer has.
func idOf(answer string) string {
	return answer[len(`{"id":"`):strings.Index(answer, `","`)]
}

// longTask creates a task of another action, and returns its path. Its answer has more than a server buffers.
func (h *fixture) longTask() string {
	h.Helper()
	require.Equal(h, 201, h.record("POST", v1+"/tasks", `{"action":"long","data":"`+strings.Repeat("y", 100_000)+`"}`))
	return v1 + "/tasks/t1"
}

// 900 connections read no answer, be it a task, a refusal or the answer to a heartbeat; there are 256 slots.
func TestClientsThatReadNoAnswerTakeNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		opened, w := h.post(v1+"/sessions", `{"serves":[{"action":"x","slots":1}]}`)
		require.Equal(t, 201, opened)
		beat := v1 + "/sessions/" + idOf(w) + "/heartbeat"
		path := h.longTask()
		for range 300 {
			unread(t, ln, "GET", path, "")
			unread(t, ln, "GET", v1+"/tasks/nosuch", "")
			unread(t, ln, "POST", beat, "")
		}
		synctest.Wait()
		require.Equal(t, 200, h.record("GET", v1+"/tasks", ""))
		require.Equal(t, 201, h.record("POST", v1+"/tasks", `{"action":"x"}`))
		require.Equal(t, 200, h.record("POST", beat, ""))
		<-time.After(time.Minute) // their connections are closed
		stop()
	})
}

func TestAClaimWhoseAnswerIsNotReadGoesToAnotherWorkerWithinSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		var workers []string
		for range 2 {
			code, w := h.post(v1+"/sessions", `{"ttl":60,"serves":[{"action":"x","slots":1}]}`)
			require.Equal(t, 201, code)
			workers = append(workers, v1+"/sessions/"+idOf(w))
		}
		require.Equal(t, 201, h.record("POST", v1+"/tasks", `{"action":"x"}`))
		unread(t, ln, "POST", workers[0]+"/claims", `{}`)
		synctest.Wait()
		began := time.Now()
		code, answer := h.post(workers[1]+"/claims", `{"wait":25}`)
		require.Equal(t, 200, code)
		require.Contains(t, answer, `"id":"t1"`)
		require.Contains(t, answer, `"attempts":0`)
		require.LessOrEqual(t, time.Since(began), 6*time.Second)
		stop()
	})
}

// The claim and the heartbeat of a worker wait beside clients that send nothing more, and get what they wait for.
func TestWaitingRequestsAreAnsweredBesideSlowClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		_, w := h.post(v1+"/sessions", `{"ttl":60,"serves":[{"action":"x","slots":1}]}`)
		worker := v1 + "/sessions/" + idOf(w)
		path := h.longTask()
		for range 300 {
			unread(t, ln, "GET", path, "")
			unread(t, ln, "POST", worker+"/heartbeat", `{"wait":25}`)
		}
		claim, beat := unread(t, ln, "POST", worker+"/claims", `{"wait":25}`), unread(t, ln, "POST", worker+"/heartbeat", `{"wait":25}`)
		synctest.Wait()
		require.Equal(t, 201, h.record("POST", v1+"/tasks", `{"action":"x"}`))
		require.Contains(t, answerOf(t, claim), `"id":"t2"`)
		require.Equal(t, 204, h.record("POST", v1+"/tasks/t2/cancel", ""))
		require.Contains(t, answerOf(t, beat), `"claims":[]`)
		<-time.After(time.Minute)
		stop()
	})
}

// A slow but steady reader gets a whole answer: 500 kB at 20 kB/s take 25 s.
func TestAnAnswerThatIsReadSlowlyArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ln, stop := h.servePipes()
		require.Equal(t, 201, h.record("POST", v1+"/tasks", `{"action":"x","data":"`+strings.Repeat("y", 500_000)+`"}`))
		c := unread(t, ln, "GET", v1+"/tasks/t1", "")
		resp, err := http.ReadResponse(bufio.NewReaderSize(&steady{c, 20_000}, 20_000), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Greater(t, len(body), 500_000)
		_ = resp.Body.Close()
		stop()
	})
}

// steady reads at most so many bytes, and then waits a second.
type steady struct {
	io.Reader
	bytes int
}

func (s *steady) Read(p []byte) (int, error) {
	<-time.After(time.Second)
	return s.Reader.Read(p[:min(len(p), s.bytes)])
}
