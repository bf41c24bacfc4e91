package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The child of a task that failed is a dead letter that no worker had.
func TestADeadLetterWithoutAnAttemptIsShown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	parent := h.ok("POST", v1+"/tasks", `{"action":"a","data":{}}`)["id"].(string)
	child := h.ok("POST", v1+"/tasks", `{"action":"a","data":{},"after":["`+parent+`"]}`)["id"].(string)
	h.ok("POST", v1+"/tasks/"+parent+"/cancel", `{"reason":"not needed"}`)
	for _, shown := range []map[string]any{h.ok("GET", v1+"/dead/"+child, ""), first(h.ok("GET", v1+"/dead", "")), h.ok("GET", v1+"/tasks/"+child, "")} {
		require.Equal(t, child, shown["id"])
		require.Contains(t, shown["note"], parent)
		require.Nil(t, shown["worker"])
		require.NotNil(t, shown["ended_at"], "it died with its parent")
	}
}
