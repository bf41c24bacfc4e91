package git_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

// The answer of git http-backend 2.39 about a repository of eight commits, one a day, and
// answered to the request below; its pack has one commit and five deltas of it.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../shared/code/gitrepo/testdata", name))
	require.NoError(t, err)
	return content
}

var began = time.Unix(1700000000, 0).UTC() // the commits are 1 to 8 days later

const request = "006cwant 7f4a547d99ee469b7a22e1791a42da534f23a1de ofs-delta no-progress deepen-since filter agent=leasehold\n" +
	"001cdeepen-since 1700172801\n0012filter tree:0\n00000009done\n"

// server is a repository behind http; asked counts how often it was asked for
// commits.
func server(t testing.TB, advertisement, answer []byte) (uri string, asked *[]string) {
	asked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /repo.git/info/refs":
			_, _ = w.Write(advertisement)
		case "POST /repo.git/git-upload-pack":
			content, _ := io.ReadAll(r.Body)
			*asked = append(*asked, r.Header.Get("Content-Type")+"\n"+string(content))
			if answer == nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = w.Write(answer)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/repo.git", asked
}

func TestARepositoryBehindHTTPIsAskedForTheDatesOfItsCommitsWhenItsRefsChanged(t *testing.T) {
	t.Parallel()
	uri, asked := server(t, recorded(t, "advertisement"), recorded(t, "answer"))
	known := models.Known{Digest: "refs:other", At: began.Add(48*time.Hour + time.Second)}
	o, err := visit(t, uri, models.Visit{Known: known})
	require.NoError(t, err)
	require.Equal(t, []string{"application/x-git-upload-pack-request\n" + request}, *asked)
	var want []time.Time
	for day := 8; day > 2; day-- {
		want = append(want, began.Add(time.Duration(day)*24*time.Hour))
	}
	require.Equal(t, want, o.ChangedAt)

	known.Digest = o.Digest
	same, err := visit(t, uri, models.Visit{Known: known})
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, same.Status)
	require.Len(t, *asked, 1, "dates of unchanged refs are not requested")

	_, err = visit(t, uri, models.Visit{})
	require.NoError(t, err)
	require.Contains(t, (*asked)[1], "deepen-since ", "a first visit asks for half a year")
}

func TestARepositoryWhoseCommitsCannotBeHadIsVisitedWithoutDates(t *testing.T) {
	t.Parallel()
	ad, answer := recorded(t, "advertisement"), recorded(t, "answer")
	for name, x := range map[string]struct {
		ad, answer []byte
		asked      int
	}{
		"the server leaves nothing out": {bytes.Replace(ad, []byte(" filter "), []byte(" flyter "), 1), answer, 0},
		"it refuses":                    {ad, nil, 1},
		"it answers with an error":      {ad, []byte("0020ERR no commits selected for sh"), 1},
		"it answers with nothing":       {ad, []byte{}, 1},
		"its pack is none":              {ad, []byte("0008NAK\nPACK\x00\x00\x00\x02\xff\xff\xff\xff garbage"), 1},
	} {
		uri, asked := server(t, x.ad, x.answer)
		o, err := visit(t, uri, models.Visit{})
		require.NoError(t, err, name)
		require.Equal(t, models.Eventful, o.Status, name)
		require.Empty(t, o.ChangedAt, name)
		require.Len(t, *asked, x.asked, name)
	}
	// A truncated pack gives the commits before its end.
	uri, _ := server(t, ad, answer[:len(answer)-200])
	o, err := visit(t, uri, models.Visit{})
	require.NoError(t, err)
	require.NotEmpty(t, o.ChangedAt)
	require.Less(t, len(o.ChangedAt), 6)
}
