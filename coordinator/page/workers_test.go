package page_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rowKeys returns the keys of the rows of a page, in order.
func rowKeys(page string) (keys []string) {
	for _, match := range regexp.MustCompile(`<tr data-key="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		keys = append(keys, match[1])
	}
	return keys
}

// nextPart returns the address of the next part of a list; empty: the page shows the last one.
func nextPart(page string) string {
	match := regexp.MustCompile(`href="([^"]+)">next page<`).FindStringSubmatch(page)
	if match == nil {
		return ""
	}
	return strings.ReplaceAll(match[1], "&amp;", "&")
}

func TestWorkersAreListedInPartsAndByWhatTheyServe(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	all := map[string]bool{}
	for i := range 120 {
		repo, err := h.core.Connect(t.Context(), "worker", 0)
		require.NoError(t, err)
		h.serve(repo, "idle", fmt.Sprintf("resize%d", i%3))
		all[repo.Session()] = true
	}

	shown, pages := map[string]bool{}, 0
	for address := "/workers"; address != ""; pages++ {
		page := h.shows(address, "of <b>120</b> workers")
		for _, key := range rowKeys(page) {
			require.False(t, shown[key], "%s is on two pages", key)
			shown[key] = true
		}
		address = nextPart(page)
	}
	require.Equal(t, all, shown)
	require.Equal(t, 3, pages)

	page := h.shows("/workers?text=RESIZE1", "40 of 120 workers", `value="RESIZE1"`)
	require.Len(t, rowKeys(page), 40)
	require.Empty(t, nextPart(page))
	h.shows("/workers?text=%3Cscript%3E", "No worker has this text", "&lt;script&gt;")
	h.shows("/workers?from=100000", "of <b>120</b> workers", "first page")
}
