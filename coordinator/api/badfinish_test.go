package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// finishOf returns the body of a claim that resolves each of the tasks.
func finishOf(tasks []string, tokens []int64) string {
	all := make([]string, len(tasks))
	for n := range tasks {
		all[n] = fmt.Sprintf(`{"task":%q,"resolve":{"token":%d,"result":%d}}`, tasks[n], tokens[n], n)
	}
	return `{"limit":0,"actions":["a"],"finish":[` + strings.Join(all, ",") + `]}`
}

func TestEndsOfAClaimAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	open := func() string {
		return v1 + "/sessions/" + h.ok("POST", v1+"/sessions", `{"serves":[{"action":"a","slots":64}]}`)["id"].(string)
	}
	claim := func(session string) (id string, token int64) {
		made := h.ok("POST", v1+"/tasks", `{"action":"a"}`)["id"].(string)
		_, token = h.claimOne(session)
		return made, token
	}
	mine, theirs := open(), open()
	twice, token := claim(mine)
	other, othersToken := claim(theirs)
	answer := h.ok("POST", mine+"/claims", finishOf([]string{twice, twice, other}, []int64{token, token, othersToken}))
	var codes []any
	for _, one := range answer["finished"].([]any) {
		codes = append(codes, one.(map[string]any)["code"])
	}
	require.Equal(t, []any{nil, "stale_token", "stale_token"}, codes, "the first end counts, and no session ends what another has")
	require.EqualValues(t, 0, h.ok("GET", v1+"/tasks/"+twice, "")["result"])
	require.Equal(t, "claimed", h.ok("GET", v1+"/tasks/"+other, "")["state"])

	tooMany, tokens := []string{other}, []int64{othersToken}
	for n := range 64 {
		tooMany, tokens = append(tooMany, fmt.Sprint("t", 1000+n)), append(tokens, int64(n+1))
	}
	for what, c := range map[string]struct {
		body   string
		status int
		detail string
	}{
		"65 ends":   {finishOf(tooMany, tokens), 400, "64"},
		"too large": {`{"finish":[{"task":"` + other + `","resolve":{"token":1,"result":"` + strings.Repeat("x", 10<<20) + `"}}]}`, 413, "1048576"},
	} {
		status, problem := h.call("POST", theirs+"/claims", c.body)
		require.Equal(t, c.status, status, what)
		require.Contains(t, problem["detail"], c.detail, what)
	}
	answer = h.ok("POST", theirs+"/claims", finishOf(tooMany[1:], tokens[1:]))
	require.Len(t, answer["finished"], 64, "each of so many is judged")
	require.Equal(t, "claimed", h.ok("GET", v1+"/tasks/"+other, "")["state"], "a request that is refused ends nothing")
}

func TestWhatAnAttemptPrintedIsKeptWithTheEndOfItsTask(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	session := v1 + "/sessions/" + h.ok("POST", v1+"/sessions", `{"name":"w","serves":[{"action":"a","slots":1}]}`)["id"].(string)
	long := strings.Repeat("x", 5000) + "the last line"
	for _, finishes := range []bool{false, true} {
		for _, create := range []string{"", `,"create":[{"action":"b"}]`} {
			id := h.ok("POST", v1+"/tasks", `{"action":"a","data":{"n":1}}`)["id"].(string)
			path, token := h.claimOne(session)
			resolution := fmt.Sprintf(`{"token":%d,"result":1,"output":%q%s}`, token, long, create)
			if finishes {
				h.ok("POST", session+"/claims", fmt.Sprintf(`{"limit":0,"finish":[{"task":%q,"resolve":%s}]}`, id, resolution))
			} else {
				h.ok("POST", path+"/resolve", resolution)
			}
			ended := h.ok("GET", v1+"/tasks/"+id, "")
			require.Equal(t, "resolved", ended["state"])
			require.EqualValues(t, 0, ended["attempts"], "none failed")
			require.Equal(t, map[string]any{"n": 1.0}, ended["data"])
			history := ended["history"].([]any)
			require.Len(t, history, 1)
			attempt := history[0].(map[string]any)
			require.Equal(t, "w", attempt["worker"])
			require.Empty(t, attempt["error"])
			require.Len(t, attempt["output"], 2048)
			require.True(t, strings.HasSuffix(attempt["output"].(string), "the last line"))
		}
	}
}
