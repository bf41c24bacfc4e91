package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAWorkerReportsOnlyVisitsThatItClaimed has a worker that knows the ids of other origins, and of their visits.
func TestAWorkerReportsOnlyVisitsThatItClaimed(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	worker, producer := h.token("box", "worker"), h.token("ci", "producer")
	h.byAdmin("POST", "visit-types", `{"type":"svn"}`)
	feed := h.byAdmin("POST", "origins", `{"kind":"feed","uri":"https://example.org/f"}`)["id"]
	svn := h.byAdmin("POST", "origins", `{"kind":"svn","uri":"svn://a.example/one"}`)["id"]
	asked := h.byAdmin("POST", "visits", fmt.Sprintf(`{"origin":%q}`, feed))
	report := func(token string, visit, origin any) any {
		status, answer := h.by(token, "POST", "visits/outcomes", fmt.Sprintf(`{"visit":%q,"origin":%q,"status":"not_found","at":%q}`, visit, origin, time.Now().UTC().Format(time.RFC3339)))
		require.Equal(t, 200, status, answer)
		return answer["ignored"]
	}
	const refused = "the visit is not claimed"
	for _, visit := range []any{"", "visit-1", asked["id"]} {
		require.Equal(t, refused, report(worker, fmt.Sprint(visit), feed))
		require.Equal(t, refused, report(worker, fmt.Sprint(visit), svn))
	}
	require.Empty(t, h.byAdmin("GET", fmt.Sprintf("origins/%s/schedule", feed), "")["history"])

	var claimed []any
	require.Eventually(t, func() bool {
		_, answer := h.by(worker, "POST", "visits/claims", `{"type":"svn","limit":10}`)
		claimed, _ = answer["items"].([]any)
		return len(claimed) == 1
	}, 20*time.Second, 20*time.Millisecond)
	visit := claimed[0].(map[string]any)["id"]
	require.Equal(t, refused, report(worker, visit, feed))
	require.Nil(t, report(worker, visit, svn))
	require.Equal(t, refused, report(worker, visit, svn), "it was reported")
	require.Len(t, h.byAdmin("GET", fmt.Sprintf("origins/%s/schedule", svn), "")["history"], 1)
	require.Nil(t, report(producer, "", feed), "a program that visits by itself")
}
