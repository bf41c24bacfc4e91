package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/history"
)

// hold sets how many tuples a space has.
func (h *fixture) hold(space string, visible, held int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spaces[space] = history.Tuples{Visible: visible, Held: held}
}

// tuples returns the points of all spaces, of all time.
func (h *fixture) tuples(step time.Duration) map[string][]history.SpacePoint {
	h.Helper()
	all, err := h.store.ReadSpaces(h.Context(), history.Query{Step: step, From: time.Unix(0, 0), To: time.Unix(1<<40, 0)})
	require.NoError(h, err)
	return all
}

func TestEachMinuteHasTheTuplesOfSpacesAtItsEnd(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now().UTC()
		h.hold("task", 5, 1)
		h.hold("empty", 0, 0)
		h.sleep(time.Minute)
		h.hold("task", 7, 0)
		h.sleep(time.Minute)
		h.hold("task", 0, 0)
		h.sleep(time.Minute)
		minutes := map[string][]history.SpacePoint{"task": {{At: begin, Tuples: history.Tuples{Visible: 5, Held: 1}}, {At: begin.Add(time.Minute), Tuples: history.Tuples{Visible: 7}}}}
		require.Equal(t, minutes, h.tuples(history.Minute))
		require.Empty(t, h.tuples(history.TenMinute), "its last minute counts")
		h.hold("task", 3, 0)
		h.sleep(time.Minute)
		require.Equal(t, []history.SpacePoint{{At: begin, Tuples: history.Tuples{Visible: 3}}}, h.tuples(history.TenMinute)["task"])

		h.sleep(10 * time.Second)
		h.stop()
		h.start()
		for n := 3; n <= 4; n++ {
			minutes["task"] = append(minutes["task"], history.SpacePoint{At: begin.Add(time.Duration(n) * time.Minute), Tuples: history.Tuples{Visible: 3}})
		}
		require.Equal(t, minutes, h.tuples(history.Minute), "after a restart")
		one, err := h.store.ReadSpaces(h.Context(), history.Query{Space: "task", Step: history.Minute, From: begin, To: begin.Add(time.Minute)})
		require.NoError(t, err)
		require.Equal(t, map[string][]history.SpacePoint{"task": minutes["task"][:1]}, one)
	})
}

func TestSixtySpacesAreTheLargestFiftyAndOther(t *testing.T) {
	withFixture(t, func(h *fixture) {
		for n := range 60 {
			h.hold(fmt.Sprintf("s%02d", n), int64(n+1), 1)
		}
		h.hold(strings.Repeat("x", 251), 1000, 0)
		h.sleep(time.Minute)
		all := h.tuples(history.Minute)
		require.Len(t, all, history.MaxSpaces+1)
		require.Equal(t, history.Tuples{Visible: 55 + 1000, Held: 10}, all[history.Other][0].Tuples)
		require.Equal(t, int64(11), all["s10"][0].Visible)
		for n := range 10 { // larger ones, which have no place
			h.hold(fmt.Sprintf("s%02d", n), 100, 0)
		}
		h.sleep(time.Minute)
		all = h.tuples(history.Minute)
		require.Len(t, all["s10"], 2, "a space keeps its place")
		require.NotContains(t, all, "s00")
		h.hold("s10", 0, 0)
		h.sleep(time.Minute)
		require.Equal(t, int64(100), h.tuples(history.Minute)["s00"][0].Visible, "one gets a place that is free")
	})
}

func TestAllActionsAreReadAtOnce(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now().UTC()
		h.note("resize")
		h.sleep(time.Minute)
		h.note("mail")
		h.note("resize")
		h.sleep(2 * time.Minute)
		all, err := h.store.ReadActions(h.Context(), history.Query{Step: history.Minute, From: begin, To: begin.Add(time.Hour)})
		require.NoError(t, err)
		one := history.Counts{Created: 1, Done: 1, Failed: 2, Dead: 1}
		require.Equal(t, map[string][]history.Point{"resize": {{At: begin, Counts: one}, {At: begin.Add(time.Minute), Counts: one}}, "mail": {{At: begin.Add(time.Minute), Counts: one}}}, all)
	})
}
