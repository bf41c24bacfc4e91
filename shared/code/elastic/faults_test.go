package elastic_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/fault"
)

// blobsOf returns blobs of texts, and the manifest of a repository that has them.
func blobsOf(repo string, texts ...string) ([]code.Blob, code.Manifest) {
	var all []code.Blob
	m := code.Manifest{RepoID: repo, Repo: repo, Refs: []code.Ref{{Name: "main"}}}
	for i, text := range texts {
		all = append(all, code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text)})
		m.Files = append(m.Files, code.File{Ref: "main", Path: fmt.Sprintf("f%d", i), OID: all[i].OID})
	}
	return all, m
}

// put puts texts and publishes them as a repository; it returns the first error.
func put(x *elastic.Index, repo string, texts ...string) error {
	all, m := blobsOf(repo, texts...)
	if err := x.PutBlobs(context.Background(), repo, all); err != nil {
		return err
	}
	return x.Publish(context.Background(), m)
}

// found returns the sorted texts of the lines with "needle", with their repositories.
func found(t testing.TB, x *elastic.Index) []string {
	q, err := code.Parse("needle")
	require.NoError(t, err)
	all := []string{}
	stats, err := x.Search(context.Background(), q, code.Options{Timeout: time.Hour}, func(m code.Match) bool { // a machine may be loaded
		all = append(all, m.Repo+":"+m.Text)
		return true
	})
	require.NoError(t, err)
	require.Empty(t, stats.Stopped)
	slices.Sort(all)
	return all
}

// isWrite reports whether a request writes documents.
func isWrite(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/_bulk") }

func TestFault53ABusyServerIsTriedAgainAfterThePauseThatItAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		var tries []time.Time
		server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
			if !isWrite(r) {
				return nil
			}
			tries = append(tries, time.Now())
			if len(tries) > 3 {
				return nil
			}
			return &elastictest.Answer{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}}
		}
		all, _ := blobsOf("a", "needle")
		require.NoError(t, x.PutBlobs(t.Context(), "b", all))
		require.Len(t, tries, 4)
		for i := range 3 {
			require.GreaterOrEqual(t, tries[i+1].Sub(tries[i]), 7*time.Second)
		}
		server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
			return &elastictest.Answer{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}}
		}
		began := time.Now()
		all, _ = blobsOf("a", "another")
		require.ErrorIs(t, x.PutBlobs(t.Context(), "b", all), fault.ErrOverloaded)
		require.Zero(t, time.Since(began), "the caller makes a pause that is longer than a minute")
	})
}

func TestFault53AServerThatIsAwayIsTriedForAMinute(t *testing.T) {
	for name, answer := range map[string]*elastictest.Answer{
		"503":      {Status: http.StatusServiceUnavailable},
		"breaks":   {},
		"gateway":  {Status: http.StatusBadGateway, Body: "<html>"},
		"internal": {Status: http.StatusInternalServerError},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := elastictest.New()
			x := open(t, server, elastic.Config{})
			require.NoError(t, put(x, "a", "needle"))
			tries := 0
			server.Fail = func(*http.Request, string) *elastictest.Answer { tries++; return answer }
			began := time.Now()
			err := put(x, "a", "other")
			require.ErrorIs(t, err, fault.ErrUnavailable, name)
			require.Greater(t, tries, 5, name)
			require.Less(t, tries, 200, "pauses grow")
			require.InDelta(t, time.Minute, time.Since(began), float64(15*time.Second))
			began = time.Now()
			_, err = x.Repos(t.Context())
			require.ErrorIs(t, err, fault.ErrUnavailable, name)
			q, err := code.Parse("needle")
			require.NoError(t, err)
			_, err = x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
			require.ErrorIs(t, err, fault.ErrUnavailable, "a search does not take a server that is away for one without matches")
			require.LessOrEqual(t, time.Since(began), 2*code.DefaultTimeout, "people wait for 10 s")
			server.Fail = nil
			require.NoError(t, put(x, "a", "needle 2"))
			require.Equal(t, []string{"a:needle 2"}, found(t, x))
		})
	}
}

func TestFault53ASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		require.NoError(t, put(x, "a", "needle"))
		server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
			select {
			case <-r.Context().Done():
				return &elastictest.Answer{}
			case <-time.After(10 * time.Second):
				return nil
			}
		}
		all, _ := blobsOf("a", "needle 2")
		require.NoError(t, x.PutBlobs(t.Context(), "b", all), "10 s for each answer are slow, but not too slow")
		q, err := code.Parse("needle")
		require.NoError(t, err)
		began := time.Now()
		stats, err := x.Search(t.Context(), q, code.Options{Timeout: 3 * time.Second}, func(code.Match) bool { return true })
		require.NoError(t, err)
		require.Equal(t, code.StoppedTime, stats.Stopped)
		require.Equal(t, 3*time.Second, time.Since(began))
		why := errors.New("the user has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err = x.Search(ctx, q, code.Options{}, func(code.Match) bool { return true })
		require.ErrorIs(t, err, why)
	})
}

func TestFault53OnlyTheItemsThatWereRefusedAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		all, m := blobsOf("a", "needle 1", "needle 2", "needle 3")
		tries := map[string]int{}
		server.FailItem = func(_, _, id string) (int, string) {
			if tries[id]++; id == string(all[1].OID) && tries[id] < 3 {
				return http.StatusTooManyRequests, "es_rejected_execution_exception"
			}
			return 0, ""
		}
		require.NoError(t, x.PutBlobs(t.Context(), "b", all))
		require.Equal(t, map[string]int{string(all[0].OID): 1, string(all[1].OID): 3, string(all[2].OID): 1}, tries)
		require.NoError(t, x.Publish(t.Context(), m))
		require.Len(t, found(t, x), 3)

		all, _ = blobsOf("a", "needle 4", "needle 5")
		server.FailItem = func(_, _, id string) (int, string) {
			if id == string(all[1].OID) {
				return http.StatusBadRequest, "document_parsing_exception"
			}
			return 0, ""
		}
		err := x.PutBlobs(t.Context(), "b7", all)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, "b7")
		require.ErrorContains(t, err, string(all[1].OID))
		server.FailItem = func(string, string, string) (int, string) {
			return http.StatusServiceUnavailable, "unavailable_shards_exception"
		}
		require.ErrorIs(t, x.PutBlobs(t.Context(), "b", all), fault.ErrUnavailable)
		server.FailItem = nil
		missing, err := x.Missing(t.Context(), []code.OID{all[0].OID, all[1].OID})
		require.NoError(t, err)
		require.Equal(t, []code.OID{all[1].OID}, missing, "the one that was written is there, and no other is taken for written")
	})
}

func TestFault53ABlobThatAnotherWorkerHasWrittenIsNoFault(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x, other := open(t, server, elastic.Config{}), open(t, server, elastic.Config{})
	all, m := blobsOf("a", "needle")
	raced := false
	server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
		if isWrite(r) && !raced {
			raced = true
			require.NoError(t, other.PutBlobs(context.Background(), "b", all))
		}
		return nil
	}
	require.NoError(t, x.PutBlobs(t.Context(), "b", all), "409 means that the blob is there")
	require.NoError(t, x.Publish(t.Context(), m))
	require.Equal(t, []string{"a:needle"}, found(t, x))
}

// TestFault53ABackendThatDiesAtAnyRequestLeavesTheOldOrTheNewGeneration fails each request of each
// operation, before and after the server has executed it, and repeats the operation.
func TestFault53ABackendThatDiesAtAnyRequestLeavesTheOldOrTheNewGeneration(t *testing.T) {
	t.Parallel()
	old := []string{"a:needle 1", "a:needle 2", "b:needle 1"}
	for name, operation := range map[string]struct {
		do   func(*elastic.Index) error
		want []string
	}{
		"put and publish": {func(x *elastic.Index) error { return put(x, "a", "needle 2", "needle 3") }, []string{"a:needle 2", "a:needle 3", "b:needle 1"}},
		"drop":            {func(x *elastic.Index) error { return x.DropRepo(context.Background(), "a") }, []string{"b:needle 1"}},
		"collect":         {func(x *elastic.Index) error { return elastic.Collect(context.Background(), x) }, old},
	} {
		for _, afterWrite := range []bool{false, true} {
			points := 0
			for fails := 1; ; fails++ {
				server := elastictest.New()
				x := open(t, server, elastic.Config{RetryFor: time.Nanosecond, Views: true})
				require.NoError(t, put(x, "a", "needle 1", "needle 2"))
				require.NoError(t, put(x, "b", "needle 1"))
				passed := 0
				server.Fail = func(*http.Request, string) *elastictest.Answer {
					if passed++; passed >= fails {
						return &elastictest.Answer{AfterWrite: afterWrite && passed == fails}
					}
					return nil
				}
				err := operation.do(x)
				server.Fail = nil
				y := open(t, server, elastic.Config{Views: true}) // as after a restart
				if err == nil {
					require.Equal(t, operation.want, found(t, y), name)
					break
				}
				points++
				require.ErrorIs(t, err, fault.ErrUnavailable)
				require.Contains(t, [][]string{old, operation.want}, found(t, y), "%s, request %d", name, fails)
				require.NoError(t, operation.do(y), "%s, request %d", name, fails)
				require.Equal(t, operation.want, found(t, y), "%s, request %d", name, fails)
			}
			require.Positive(t, points, name)
		}
	}
}

func TestFault53AnIndexOfAnotherProgramIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	create := func(server *elastictest.Server, name, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://search.test:9200/"+name, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		answer, err := server.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
	const analysis = `"analysis":{"analyzer":{"trigrams":{"type":"custom","tokenizer":"whitespace"}}}`
	for what, of := range map[string]struct{ name, body, want string }{
		"a field by hand": {"leasehold-generations-1", `{"settings":{"index.translog.durability":"request",` + analysis + `},"mappings":{"dynamic":"strict","properties":{"generation":{"type":"keyword"},"repo_id":{"type":"text"},"repository":{"type":"keyword"},"manifest":{"type":"object","enabled":false}}},"aliases":{"leasehold-generations":{}}}`,
			"its field repo_id has another mapping: delete the index"},
		"any field by hand": {"leasehold-generations-1", `{"settings":{"index.translog.durability":"request",` + analysis + `},"mappings":{"dynamic":"true","properties":{"generation":{"type":"keyword"},"repo_id":{"type":"keyword"},"repository":{"type":"keyword"},"manifest":{"type":"object","enabled":false}}},"aliases":{"leasehold-generations":{}}}`,
			"leasehold-generations-1"},
		"mapping": {"leasehold-blobs-1", `{"settings":{"index.translog.durability":"request",` + analysis + `},"mappings":{"dynamic":"strict","properties":{"oid":{"type":"text"}}},"aliases":{"leasehold-blobs":{}}}`,
			"delete the index, or set search-prefix"},
		"durability": {"leasehold-blobs-1", `{"settings":{"index.translog.durability":"async",` + analysis + `},"mappings":{"dynamic":"strict","properties":{}},"aliases":{"leasehold-blobs":{}}}`,
			"translog.durability"},
		"name of a view": {"files", `{"settings":{` + analysis + `},"mappings":{"properties":{}}}`, "exists with the same name as the alias"},
	} {
		server := elastictest.New()
		create(server, of.name, of.body)
		err := put(open(t, server, elastic.Config{Views: true}), "a", "needle")
		require.ErrorContains(t, err, of.want, what)
		require.NoError(t, put(open(t, server, elastic.Config{Views: true, Prefix: "mine-"}), "a", "needle"), what)
	}
}

func TestFault53AnIndexThatWasDeletedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for deleted, lost := range map[string]int{"leasehold-blobs-1": 1, "leasehold-files-1": 1, "leasehold-published-1": 1, "leasehold-generations-1": 0} {
		for _, restart := range []bool{true, false} {
			server := elastictest.New()
			x := open(t, server, elastic.Config{RetryFor: time.Nanosecond})
			require.NoError(t, put(x, "a", "needle"))
			require.Len(t, found(t, x), 1)
			server.Delete(deleted)
			y := open(t, server, elastic.Config{}) // creates the index again
			_, err := y.Repos(t.Context())
			require.NoError(t, err)
			if restart {
				x = y
			}
			repos, err := x.Repos(t.Context())
			require.NoError(t, err)
			require.Equal(t, lost, repos[0].Lost, "%s: it is not taken for complete", deleted)
			one, exists, err := x.Repo(t.Context(), "a")
			require.NoError(t, err)
			require.True(t, exists)
			require.Equal(t, repos[0], one)
			_, exists, err = x.Repo(t.Context(), "b")
			require.NoError(t, err)
			require.False(t, exists)
			require.Equal(t, lost, skippedBy(t, x, "needle")[code.SkipLost], deleted)
			require.NoError(t, put(x, "a", "needle"))
			require.Equal(t, []string{"a:needle"}, found(t, x))
			require.Empty(t, skippedBy(t, x, "needle"), deleted)
		}
	}
	for _, deleted := range []string{"leasehold-blobs-1", "leasehold-files-1"} {
		server := elastictest.New()
		x := open(t, server, elastic.Config{RetryFor: time.Nanosecond})
		require.NoError(t, put(x, "a", "needle"))
		server.Delete(deleted)
		require.ErrorIs(t, put(x, "a", "needle", "needle 2"), fault.ErrUnavailable, "while it is used")
		require.NoError(t, put(x, "a", "needle", "needle 2"))
		require.Equal(t, []string{"a:needle", "a:needle 2"}, found(t, x))
	}
}

func TestFault53AnAliasThatIsGoneIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"blobs", "files", "generations", "published", "lines", "reports"} {
		server := elastictest.New()
		x := open(t, server, elastic.Config{RetryFor: time.Nanosecond, Views: true})
		require.NoError(t, put(x, "a", "needle"))
		status, answer := sendTo(t, server, "POST", "_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":"leasehold-%s-1","alias":"leasehold-%s"}}]}`, name, name))
		require.Equal(t, http.StatusOK, status, answer)
		if err := put(x, "a", "needle", "needle 2"); err != nil {
			require.ErrorIs(t, err, fault.ErrUnavailable, name)
			require.NoError(t, put(x, "a", "needle", "needle 2"), name)
		}
		require.Equal(t, []string{"a:needle", "a:needle 2"}, found(t, x), name)
		require.Empty(t, skippedBy(t, x, "needle"), name)
	}
}

func TestFault53AnswersThatAreNotThoseOfASearchServer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"<html>", "[]", `{"docs":[],"items":[],"hits":{}}`, `{"docs":[{"_id":"x"}]}`, "{}", "null"} {
		server := elastictest.New()
		x := open(t, server, elastic.Config{RetryFor: time.Nanosecond})
		require.NoError(t, put(x, "a", "needle"))
		server.Fail = func(*http.Request, string) *elastictest.Answer {
			return &elastictest.Answer{Status: http.StatusOK, Body: body}
		}
		require.Error(t, put(x, "a", "needle 2"), body)
		server.Fail = nil
		require.Equal(t, []string{"a:needle"}, found(t, x), body)
	}
}

func TestCredentialsAreSentAndNeverPrinted(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	server.User, server.Password = "elastic", "s3cret"
	connect := func(url string) *elastic.Index {
		x, err := elastic.New(elastic.Config{URL: url, Transport: server, RetryFor: time.Nanosecond})
		require.NoError(t, err)
		return x
	}
	require.NoError(t, put(connect("http://elastic:s3cret@search.test:9200/"), "a", "needle"))
	for _, request := range server.Requests() {
		require.NotContains(t, request, "s3cret")
	}
	err := put(connect("http://elastic:wrong-s3cret@search.test:9200"), "a", "needle")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.NotContains(t, err.Error(), "s3cret")
	server.Fail = func(*http.Request, string) *elastictest.Answer { return &elastictest.Answer{} }
	err = put(connect("http://elastic:s3cret@search.test:9200"), "a", "needle")
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NotContains(t, err.Error(), "s3cret")
	for _, url := range []string{"", "elastic:s3cret@x", "ftp://elastic:s3cret@x", "http://elastic:s3cret@", "http://elastic:s3cret@x:port", "http://x/?key=s3cret"} {
		_, err := elastic.New(elastic.Config{URL: url})
		require.ErrorIs(t, err, fault.ErrInvalid, url)
		require.NotContains(t, err.Error(), "s3cret")
	}
	_, err = elastic.New(elastic.Config{URL: "http://x", Prefix: "../"})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

// TestAServerThatRefusesIsTold has a server whose disk is full: it reads and does not write.
func TestAServerThatRefusesIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		var log bytes.Buffer
		x := open(t, server, elastic.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), RetryFor: time.Hour})
		require.NoError(t, put(x, "a", "needle"))
		began := time.Now()
		server.FailItem = func(string, string, string) (int, string) {
			if time.Since(began) < 90*time.Second {
				return http.StatusTooManyRequests, "cluster_block_exception"
			}
			return 0, ""
		}
		done := make(chan error)
		go func() { done <- put(x, "b", "needle") }()
		time.Sleep(time.Second)
		_, err := x.Waits()
		require.NoError(t, err, "a short wait is usual")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a:needle"}, found(t, x), "reads are answered meanwhile")
		since, err := x.Waits()
		require.ErrorContains(t, err, "cluster_block_exception")
		require.WithinDuration(t, began, since, time.Second)
		require.NoError(t, <-done)
		_, err = x.Waits()
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(log.String(), "refuses requests"))
		require.Equal(t, 1, strings.Count(log.String(), "answers again"))

		server.Fail = func(*http.Request, string) *elastictest.Answer { return &elastictest.Answer{} }
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = x.Repos(ctx)
		require.Error(t, err)
		_, err = x.Waits()
		require.ErrorIs(t, err, fault.ErrUnavailable)
		time.Sleep(5 * time.Minute)
		_, err = x.Waits()
		require.NoError(t, err, "nothing waits any more")
	})
}
