package visits_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// readings are the calls that only read.
func readings(s *opened, id string) []func(context.Context) error {
	now := noon.Add(26 * time.Hour)
	return []func(context.Context) error{
		func(ctx context.Context) error { _, err := s.Due(ctx, now); return err },
		func(ctx context.Context) error { _, err := s.Wake(ctx, now); return err },
		func(ctx context.Context) error { _, err := s.Next(ctx, now, 20); return err },
		func(ctx context.Context) error { _, err := s.Schedule(ctx, now, id); return err },
		func(ctx context.Context) error { _, err := s.Metrics(ctx, now); return err },
		func(ctx context.Context) error { _, err := s.Capacity(ctx, now, 4); return err },
		func(ctx context.Context) error { _, err := s.Programs(ctx); return err },
	}
}

// calls does a bit of everything; each call may be made again after an error. The visits that
// are claimed get the outcomes that follow.
func calls(s *opened) []func(context.Context) error {
	kind := models.OriginKind("x-pages")
	var claimed, programs []models.Visit
	hosts := named("https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/1")
	hosts[0].Updated = noon.Add(-time.Hour)
	id := hosts[0].Origin.ID
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	list := func(d time.Duration, l visits.Listing) func(context.Context) error {
		return func(ctx context.Context) error { return s.List(ctx, at(d), l) }
	}
	claim := func(d time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			v, err := s.Claim(ctx, at(d), 3)
			if err == nil {
				claimed = append(claimed, v...)
			}
			return err
		}
	}
	record := func(d time.Duration, change func(*models.Outcome)) func(context.Context) error {
		return func(ctx context.Context) error {
			if len(claimed) == 0 {
				return nil
			}
			o := outcome(claimed[0], at(d), models.Eventful, "a")
			change(&o)
			_, err := s.Record(ctx, at(d), []models.Outcome{o, {Visit: "none", Origin: "none", Status: models.Failed, At: at(d)}})
			if err == nil {
				claimed = claimed[1:]
			}
			return err
		}
	}
	onID := func(do func(context.Context, time.Time, string) error, d time.Duration) func(context.Context) error {
		return func(ctx context.Context) error { return do(ctx, at(d), id) }
	}
	return append([]func(context.Context) error{
		list(0, visits.Listing{Origins: hosts}),
		list(0, visits.Listing{Origins: folders(6)}),
		claim(time.Second),
		record(2*time.Second, func(o *models.Outcome) { o.ChangedAt = []time.Time{noon.Add(-time.Hour), noon.Add(-2 * time.Hour)} }),
		record(3*time.Second, func(o *models.Outcome) { o.Status = models.Failed }),
		record(4*time.Second, func(o *models.Outcome) { o.Status = models.NotFound }),
		onID(s.Tell, 5*time.Second), onID(s.SaveNow, 6*time.Second),
		claim(10 * time.Minute),
		record(11*time.Minute, func(o *models.Outcome) { o.Status, o.RetryAfter, o.Fault = models.Failed, 600, models.HostFault }),
		record(11*time.Minute, func(o *models.Outcome) { o.Status = models.Lost }),
		onID(s.Disable, 12*time.Minute), onID(s.Enable, 13*time.Minute), onID(s.ForceNow, 14*time.Minute),
		func(ctx context.Context) error { return s.Register(ctx, kind) },
		list(15*time.Minute, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "p1", Kind: kind, URI: "x:1"}}}}),
		func(ctx context.Context) (err error) {
			v, err := s.ClaimFor(ctx, at(16*time.Minute), kind, 2)
			if err == nil {
				programs = append(programs, v...)
			}
			return err
		},
		func(ctx context.Context) error {
			all, err := s.Claimed(ctx)
			if err != nil {
				return err
			}
			tasks := map[string]string{}
			for _, v := range all {
				tasks[v.ID] = v.Origin.ID
			}
			return s.AdoptInFlight(ctx, at(17*time.Minute), tasks)
		},
		func(ctx context.Context) error {
			return s.SaveAllNow(ctx, at(18*time.Minute), []models.Origin{hosts[1].Origin, hosts[3].Origin})
		},
		claim(24 * time.Hour), // what was lost comes back
		list(25*time.Hour, visits.Listing{Origins: folders(3), Full: true}),
		list(25*time.Hour, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}}),
		list(25*time.Hour, visits.Listing{Lister: "lister", Origins: named("/1", "/2"), Next: 2}),
		list(25*time.Hour, visits.Listing{Lister: "lister", Origins: named("/3"), From: 2, Full: true}),
		list(26*time.Hour, visits.Listing{Lister: "lister", Origins: named("/3"), Full: true}),
		func(ctx context.Context) error { return s.BeforeRemoval(ctx, id) },
	}, slices.Concat(ofLister(s), readings(s, id))...)
}

// ofLister are calls about repositories that two listers name. One of the repositories is removed in the
// end. Nothing is claimed any more.
func ofLister(s *opened) []func(context.Context) error {
	at := func(m int) time.Time { return noon.Add(25*time.Hour + time.Duration(m)*time.Minute) }
	first, second := "https://c.example/1.git", "https://c.example/2.git"
	list := func(m int, lister string, branches ...string) func(context.Context) error {
		all := named(first, second)
		for i := range all {
			all[i].Kind, all[i].Listed, all[i].Branches = models.Git, true, branches
			all[i].ForkOf, all[i].Metadata = "https://c.example/0.git", map[string]string{"k": "v"}
		}
		return func(ctx context.Context) error {
			return s.List(ctx, at(m), visits.Listing{Lister: lister, Origins: all})
		}
	}
	record := func(m int, uri string, o models.Outcome) func(context.Context) error {
		delay := models.Seconds(m)
		o.Origin, o.At, o.CrawlDelay = models.NewID(uri), at(m), &delay
		return func(ctx context.Context) error { _, err := s.Record(ctx, at(m), []models.Outcome{o}); return err }
	}
	return []func(context.Context) error{
		func(ctx context.Context) error {
			return s.List(ctx, at(1), visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "another", Kind: models.URLs, URI: "/another"}}}})
		},
		list(2, "lister", "main"), list(3, "lister", "main", "dev"), list(4, "another", "main"),
		record(5, first, models.Outcome{Status: models.Eventful, Digest: "a", ChangedAt: []time.Time{at(-500), at(-100)}}),
		record(25, first, models.Outcome{Status: models.Eventful, Digest: "b", ChangedAt: []time.Time{at(20)}}),
		record(26, first, models.Outcome{Status: models.Failed, Fault: models.HostFault}),
		record(27, second, models.Outcome{Status: models.Failed, RetryAfter: 100}),
		func(ctx context.Context) error { return s.ForceNow(ctx, at(28), models.NewID(second)) },
		func(ctx context.Context) error { return s.Disable(ctx, at(29), models.NewID(second)) },
		func(ctx context.Context) error {
			return s.MarkDisabled(ctx, []models.Origin{{ID: models.NewID(second)}})
		},
		func(ctx context.Context) error { _, err := s.Schedule(ctx, at(30), models.NewID(first)); return err },
		func(ctx context.Context) error {
			_, err := s.db.Catalog.SetOriginPriority(ctx, models.NewID(first), 5)
			return err
		},
		func(ctx context.Context) error {
			if err := s.db.Catalog.RemoveOrigin(ctx, models.NewID(first)); !errors.Is(err, fault.ErrNotFound) {
				return err
			}
			return nil
		},
	}
}

// A call that loses an error would answer success, though a part of it was not done. After the
// error the same call is made again. In the end as many origins were visited and failed as without
// errors; the choice among them is random.
func TestEachCallReportsTheFailureOfEachStatementAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"value", "seed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type counts struct{ visited, failed, history int }
			var want counts
			for _, fails := range []bool{false, true} {
				s := openAt(t, filepath.Join(t.TempDir(), "catalog.db"), name, func(r *policy.Rules) { r.Fudge = 0 })
				for i, call := range calls(s) {
					for n := 1; fails; n++ {
						ctx, failed := sqldb.FailAt(t.Context(), n)
						err := call(ctx)
						if !failed() {
							require.NoError(t, err, "call %d", i)
							break
						}
						require.ErrorIs(t, err, sqldb.ErrFailed, "call %d, statement %d", i, n)
					}
					if !fails {
						require.NoError(t, call(t.Context()), "call %d", i)
					}
				}
				var got counts
				for _, n := range append(folders(6), named("https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/1")...) {
					o := look(t, s, noon.Add(26*time.Hour), n.Origin.ID)
					got.history += len(o.History)
					if o.LastVisit != policy.Never {
						got.visited++
					}
					if o.Failures > 0 {
						got.failed++
					}
				}
				if !fails {
					want = got
					continue
				}
				require.Equal(t, want, got)
			}
		})
	}
}
