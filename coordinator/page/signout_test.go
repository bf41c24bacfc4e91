package page_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAVisitorWhoIsSignedInMaySignOutByAForm(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, path := range []string{"/", "/tasks"} {
		body := h.request(http.MethodGet, path, "reader", nil).Body.String()
		require.Contains(t, body, `<form action="/sign-out" method="post"><button class="plain">sign out</button></form>`)
		require.Contains(t, body, ">token-reader (anna)<")
		require.NotContains(t, body, "not authenticated")
		require.NotContains(t, h.shows(path), "/sign-out", "the visitor has not signed in")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} { // a link or an image of another site must not sign a visitor out
		require.Equal(t, http.StatusNotFound, h.request(method, "/sign-out", "reader", nil).Code)
	}
}
