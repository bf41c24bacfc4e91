package store

import (
	"context"
	"errors"
	"testing"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

func execute(t *testing.T, s *Store, query string, args ...any) {
	t.Helper()
	if err := s.db.Write(t.Context(), query, func(c *sqldb.Conn) error { return c.Exec(query, args...) }); err != nil {
		t.Fatal(err)
	}
}

func TestEpisodesWithoutAnythingLeftLeaveTheCandidates(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*models.Researched){
		"researched":             func(*models.Researched) {},
		"a problem of each pair": func(r *models.Researched) { r.Problem, r.Scope = "too long", models.ScopePair },
		"a problem of all":       func(r *models.Researched) { r.Problem, r.Scope = "not audio", models.ScopeEpisode },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, newPath(t))
			fill(t, s, 3, 4)
			for range 3 {
				work, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 10})
				if err != nil {
					t.Fatal(err)
				}
				r := doneWith(work)
				end(&r)
				if err := s.Ingest(t.Context(), r, today); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 10}); !errors.Is(err, fault.ErrNotFound) {
				t.Fatalf("got %v", err)
			}
			if n := number(t, s, "SELECT count(*) FROM candidate"); n != 0 {
				t.Errorf("%d episodes are looked at again at each selection", n)
			}
		})
	}
}

func TestAnIngestionThatCannotReadWhatIsResearchedIsRefused(t *testing.T) {
	t.Parallel()
	for name, problem := range map[string]models.Scope{"findings": "", "a problem": models.ScopePair} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, newPath(t))
			fill(t, s, 2, 2)
			first, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Ingest(t.Context(), doneWith(first), today); err != nil {
				t.Fatal(err)
			}
			second, _, err := s.Select(t.Context(), nil, catalog.Limits{Clips: 10})
			if err != nil {
				t.Fatal(err)
			}
			execute(t, s, "UPDATE researched SET clips = ?", []byte("damaged"))
			r := doneWith(second)
			r.Scope = problem
			if problem != "" {
				r.Problem = "too long"
			}
			if err := s.Ingest(context.Background(), r, today); !errors.Is(err, fault.ErrCorrupt) || fault.Of(err).ExitCode != 65 {
				t.Fatalf("got %v", err)
			}
			if n := number(t, s, "SELECT count(*) FROM researched WHERE clips = CAST('damaged' AS BLOB)"); n != 1 {
				t.Error("the damaged row was replaced, as if nothing had been researched before")
			}
			if n := number(t, s, "SELECT count(*) FROM problem"); n != 0 {
				t.Errorf("%d problems were stored", n)
			}
		})
	}
}
