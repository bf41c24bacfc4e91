package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit"
)

// svn is an external program that lists and visits repositories of a type unknown here. It knows only addresses
// of the API and JSON.
type svn struct {
	api      string
	revision map[string]int // by URI
}

func (p svn) post(path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.Post(p.api+path, "application/json", bytes.NewReader(sent))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s", path, r.Status)
	}
	return json.NewDecoder(r.Body).Decode(answer)
}

func (p svn) list() error {
	var lister struct{ ID string }
	var origins []map[string]any
	for uri := range p.revision {
		origins = append(origins, map[string]any{"kind": "svn", "uri": uri, "created": "2020-01-02T03:04:05Z", "fork": true, "metadata": map[string]string{"host": "old"}})
	}
	if err := p.post("/visit-types", map[string]any{"type": "svn"}, &struct{}{}); err != nil {
		return err
	}
	if err := p.post("/listers", map[string]any{"kind": "lister", "uri": "svn-hosting"}, &lister); err != nil {
		return err
	}
	return p.post("/listers/"+lister.ID+"/origins", map[string]any{"origins": origins, "full": true}, &struct{}{})
}

func (p svn) load() (visited []string, err error) {
	var claimed struct {
		Items []struct {
			ID     string
			Origin struct{ ID, URI string }
		}
	}
	if err := p.post("/visits/claims", map[string]any{"type": "svn", "limit": 10}, &claimed); err != nil {
		return nil, err
	}
	for _, v := range claimed.Items {
		visited = append(visited, v.Origin.URI)
		err := p.post("/visits/outcomes", map[string]any{"visit": v.ID, "origin": v.Origin.ID, "status": "eventful", "at": time.Now().UTC(),
			"digest": fmt.Sprint("r", p.revision[v.Origin.URI])}, &struct{}{})
		if err != nil {
			return nil, err
		}
	}
	return visited, nil
}

func TestAProgramListsAndVisitsOriginsOfATypeOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	p := svn{h.server.URL + v1, map[string]int{"svn://a.example/one": 7, "svn://b.example/two": 9}}
	h.refuses("not_found", "POST", v1+"/origins", `{"kind":"svn","uri":"svn://a.example/one"}`)
	h.refuses("not_found", "POST", v1+"/visits/claims", `{"type":"svn","limit":1}`)
	require.NoError(t, p.list())
	visited, err := p.load()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"svn://a.example/one", "svn://b.example/two"}, visited)
	visited, err = p.load()
	require.NoError(t, err)
	require.Empty(t, visited, "the cooldown holds for them too")

	origins := items(h.ok("GET", v1+"/origins", ""))
	require.Len(t, origins, 3)
	var id string
	for _, o := range origins {
		if x := o.(map[string]any); x["uri"] == "svn://a.example/one" {
			id = x["id"].(string)
			require.Equal(t, true, x["listed"])
			require.Equal(t, "eventful", x["last_outcome"])
		}
	}
	s := h.ok("GET", v1+"/origins/"+id+"/schedule", "")
	require.Equal(t, "r7", s["digest"])
	require.Equal(t, map[string]any{"host": "old"}, s["metadata"])

	// A user asks for a visit, and the origin that the list no longer names goes.
	h.ok("POST", v1+"/origins/"+id+"/schedule", `{"action":"save-now"}`)
	require.Eventually(t, func() bool { // its host is left alone for a second
		visited, err = p.load()
		return err != nil || len(visited) > 0
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, []string{"svn://a.example/one"}, visited)
	delete(p.revision, "svn://a.example/one")
	require.NoError(t, p.list())
	require.Equal(t, "lister", h.ok("GET", v1+"/origins/"+id+"/schedule", "")["disabled"])

	// Managers get none of these visits.
	h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f"}`)
	v, err := visit.Client{Repo: h.repo}.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, "https://example.org/f", v.Origin.URI)
}

func TestListsOfProgramsAreChecked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"git", "lister", "api"} {
		h.refuses("conflict", "POST", v1+"/visit-types", `{"type":"`+name+`"}`)
	}
	for _, name := range []string{"", "Svn", "s v n", "1svn"} {
		h.refuses("invalid", "POST", v1+"/visit-types", `{"type":"`+name+`"}`)
	}
	h.ok("POST", v1+"/visit-types", `{"type":"svn"}`)
	h.ok("POST", v1+"/visit-types", `{"type":"svn"}`)
	require.EqualValues(t, 1, h.ok("GET", v1+"/visit-types", "")["total"])
	for body, want := range map[string]string{
		`{"kind":"ftp","uri":"/x"}`: `kind "ftp": not found: use feed`,
		`{"kind":"svn","uri":"/x"}`: `uri "/x" of kind svn: conflict: want a URI with a scheme`,
	} {
		_, problem := h.call("POST", v1+"/origins", body)
		require.Contains(t, problem["detail"], want)
		require.NotContains(t, problem["detail"], "\n", "one cause, one sentence")
	}
	id := h.ok("POST", v1+"/listers", `{"kind":"lister","uri":"mine"}`)["id"].(string)
	opml := h.ok("POST", v1+"/listers", `{"kind":"opml","uri":"https://example.org/x.opml"}`)["id"].(string)
	good := `{"origins":[{"kind":"feed","uri":"https://example.org/feed"}],"full":true}`
	h.refuses("conflict", "POST", v1+"/listers/"+opml+"/origins", good)
	h.refuses("not_found", "POST", v1+"/listers/missing/origins", good)
	for _, c := range []struct{ code, body string }{
		{"conflict", `{"origins":[{"kind":"feed","uri":"/etc/passwd"}]}`}, {"conflict", `{"origins":[{"kind":"media","uri":"/media"}]}`},
		{"not_found", `{"origins":[{"kind":"cvs","uri":"cvs://a/b"}]}`}, {"conflict", `{"origins":[{"kind":"svn","uri":"file:///etc"}]}`},
		{"conflict", `{"origins":[{"kind":"svn","uri":""}]}`}, {"invalid", `{"origins":[],"from":-1}`}, {"invalid", `{"full":true,"next":5}`},
	} {
		h.refuses(c.code, "POST", v1+"/listers/"+id+"/origins", c.body)
	}
	for range 2 {
		require.EqualValues(t, 1, h.ok("POST", v1+"/listers/"+id+"/origins", good)["listed"])
	}
	require.EqualValues(t, 3, h.ok("GET", v1+"/origins", "")["total"])
	h.refuses("invalid", "POST", v1+"/visits/claims", `{"type":"svn","limit":0}`)
	// An outcome of an origin that a lister named is accepted.
	for _, o := range items(h.ok("GET", v1+"/origins", "")) {
		if x := o.(map[string]any); x["kind"] == "feed" {
			h.ok("POST", v1+"/visits/outcomes", `{"origin":"`+x["id"].(string)+`","status":"eventful","at":"2026-01-02T03:04:05Z","digest":"a"}`)
		}
	}
}

func TestALongListIsPushedInPartsAsTheDocsRead(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	lister := h.ok("POST", v1+"/listers", `{"kind":"lister","uri":"in parts"}`)["id"].(string)
	feed := func(n int) string { return fmt.Sprintf(`{"kind":"feed","uri":"https://example.org/%d"}`, n) }
	push := func(origins, more string) {
		h.ok("POST", v1+"/listers/"+lister+"/origins", `{"origins":[`+origins+`]`+more+`}`)
	}
	disabled := func() (ids []string) {
		for _, x := range items(h.ok("GET", v1+"/origins?limit=100", "")) {
			if o := x.(map[string]any); o["disabled"] == "lister" {
				ids = append(ids, o["uri"].(string))
			}
		}
		return ids
	}
	push(feed(1)+","+feed(2), `,"from":0,"next":2`)
	push(feed(3)+","+feed(9), `,"from":2,"next":4`) // more would follow
	require.Empty(t, disabled())
	for _, last := range []string{`,"from":2,"next":3,"full":true`, `,"from":2,"full":true`} { // next may be left out
		push(feed(9), "")
		require.Empty(t, disabled(), "named again")
		require.Eventually(t, func() bool { // an origin that was named in the second in which the list begins is kept
			push(feed(1)+","+feed(2), `,"from":0,"next":2`)
			push(feed(3), last)
			return len(disabled()) > 0
		}, time.Minute, 100*time.Millisecond, last)
		require.Equal(t, []string{"https://example.org/9"}, disabled(), last)
	}
	push(feed(1), `,"from":7,"full":true`)
	require.Equal(t, []string{"https://example.org/9"}, disabled(), "a part that does not follow the one before only adds")
	h.refuses("conflict", "POST", v1+"/listers/"+lister+"/origins", `{"origins":[`+feed(1)+`],"from":2,"next":7,"full":true}`)
}
