package api_test

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// fills is a client whose answer fills the disk: when it has read it, or when it breaks the connection instead.
type fills struct {
	*httptest.ResponseRecorder
	disk   *disk
	broken bool
}

func (f fills) Write(data []byte) (int, error) {
	if f.broken {
		f.disk.spent.Store(true)
		return 0, errors.New("connection reset")
	}
	return f.ResponseRecorder.Write(data)
}

func (f fills) FlushError() error {
	f.disk.spent.Store(true)
	return nil
}

func (f fills) Flush() {}

// fillAt posts a request, and fills the disk when the answer arrives, or when it cannot be written (broken).
func (h *fixture) fillAt(path, body, key string, broken bool) {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), "POST", "http://127.0.0.1"+path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	rec := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(fills{rec, h.disk, broken}, r)
	require.Equal(h, http.StatusOK, rec.Code, rec.Body)
	require.True(h, h.disk.spent.Load())
	require.Equal(h, http.StatusOK, h.get(v1+"/spaces").Code, "other requests go on")
}

func (h *fixture) get(path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(h.Context(), "GET", "http://127.0.0.1"+path, nil))
	return rec
}

// held returns how many tuples are held.
func (h *fixture) held() int { return h.c.Engine().Stats().Held }

// awaitNoHolds waits until no tuple is held.
func (h *fixture) awaitNoHolds() {
	h.Helper()
	require.Eventually(h, func() bool { return h.held() == 0 }, 20*time.Second, time.Millisecond)
}

// The end of the API's session would bring a tuple back whose acknowledgement a full disk refused, and it would be
// delivered twice.
func TestFault12AGetWhoseAcknowledgementAFullDiskRefusesIsAcknowledgedLater(t *testing.T) {
	t.Parallel()
	h := newFixtureOn(t, refusingDisk(), func(*api.Config) {})
	require.NoError(t, h.notes().Put(t.Context(), tuple.New("note", int64(1)), 0))
	h.fillAt(v1+"/spaces/notes/get", `{"template":"note ?int64"}`, "", false)
	require.Equal(t, 1, h.held())
	h.disk.spent.Store(false)
	h.awaitNoHolds()
	h.stop()
	h = newFixtureOn(t, h.disk, func(*api.Config) {})
	n, err := h.repo.Space("notes").Count(t.Context(), tuple.Match("note", tuple.AnyInt64))
	require.NoError(t, err)
	require.Zero(t, n, "it was delivered")
}

func TestFault12AnAcknowledgementThatStillWaitsIsMadeWhenTheAPIEnds(t *testing.T) {
	t.Parallel()
	h := newFixtureOn(t, refusingDisk(), func(*api.Config) {})
	require.NoError(t, h.notes().Put(t.Context(), tuple.New("note", int64(1)), 0))
	h.fillAt(v1+"/spaces/notes/get", `{"template":"note ?int64"}`, "", false)
	h.disk.spent.Store(false)
	h.stop()
	h = newFixtureOn(t, h.disk, func(*api.Config) {})
	n, err := h.repo.Space("notes").Count(t.Context(), tuple.Match("note", tuple.AnyInt64))
	require.NoError(t, err)
	require.Zero(t, n, "it was delivered")
}

func TestFault12WhatCouldNotBeDeliveredToAFullDiskComesBackOnceItHasSpace(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"get": `{"template":"note ?int64"}`, "hold": `{"template":"note ?int64","ack":true,"hold_s":600}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixtureOn(t, refusingDisk(), func(*api.Config) {})
			notes := h.notes()
			require.NoError(t, notes.Put(t.Context(), tuple.New("note", int64(1)), 0))
			require.NoError(t, notes.Put(t.Context(), tuple.New("note", int64(2)), 0))
			h.fillAt(v1+"/spaces/notes/get", body, "", true)
			require.Equal(t, 1, h.held())
			h.disk.spent.Store(false)
			h.awaitNoHolds()
			u, ok, err := notes.GetP(t.Context(), tuple.Match("note", tuple.AnyInt64))
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, tuple.New("note", int64(1)), u, "at its old place")
		})
	}
}

func TestFault12ClaimsThatCouldNotBeDeliveredAreHandedBackOnceTheDiskHasSpace(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"with a key": "k", "without a key": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixtureOn(t, refusingDisk(), func(*api.Config) {})
			w := h.openWorker("count")
			h.ok("POST", v1+"/tasks", `{"action":"count"}`)
			h.ok("POST", v1+"/tasks", `{"action":"count"}`)
			h.fillAt(w+"/claims", `{"limit":2}`, key, true)
			require.Len(t, items(h.ok("GET", v1+"/tasks?state=claimed", "")), 2)
			h.disk.spent.Store(false)
			require.Eventually(t, func() bool {
				return len(items(h.ok("GET", v1+"/tasks?state=waiting", ""))) == 2
			}, 20*time.Second, time.Millisecond)
			require.Eventually(t, func() bool { // the answer under the key is forgotten after that
				_, answer := h.keyed(cmp.Or(key, "another"), "POST", w+"/claims", `{"limit":2}`)
				return len(items(answer)) == 2 && len(items(h.ok("GET", v1+"/tasks?state=claimed", ""))) == 2
			}, 20*time.Second, time.Millisecond)
		})
	}
}

// A get of a task is a claim.
func TestFault12ATaskThatIsTakenFromItsSpaceComesBackOnceTheDiskHasSpace(t *testing.T) {
	t.Parallel()
	h := newFixtureOn(t, refusingDisk(), func(*api.Config) {})
	h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	h.fillAt(v1+"/spaces/task/get", marshal(t, map[string]string{"template": h.templateOfTask()}), "", true)
	claims := func() int {
		n, err := h.repo.Space(lease.Space).Count(t.Context(), task.AnyClaim())
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, claims())
	h.disk.spent.Store(false)
	require.Eventually(t, func() bool { return claims() == 0 }, 20*time.Second, time.Millisecond)
	require.EqualValues(t, 0, first(h.ok("GET", v1+"/tasks?state=waiting", ""))["attempts"])
}
