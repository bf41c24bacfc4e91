package page

import (
	"bytes"
	"context"
	"html/template"
	"slices"
	"sync"
	"time"

	"leasehold/coordinator/api"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

const (
	maxAge = time.Second // of a snapshot
	// maxCatalogAge is longer than maxAge, because the cost of reading the catalog grows
	// with its size.
	maxCatalogAge  = 5 * time.Second
	collectTimeout = 10 * time.Second

	maxSessions  = 200
	maxSchedules = 100
	maxRows      = 20 // of dead letters, of problems, and of findings
)

// A snapshot has all that the page shows at one time. It does not change once it is in the
// cache.
type snapshot struct {
	At       time.Time
	Sessions []session
	More     int // sessions that are not shown
	Costs    []models.Cost
	Spaces   []space.Info
	Dead     []deadLetter
	DeadAll  int

	Schedules    []schedule.State
	SchedulesAll int
	Trouble      string // why the catalog's database cannot be used; empty: it can
	catalogPart
	// Insecure and SignOut are those of Config.
	Insecure, SignOut bool

	HTML map[string]template.HTML // each section, rendered
}

// catalogPart is the part of a snapshot from the catalog.
type catalogPart struct {
	Problems []catalog.Problem // the latest first
	Findings []catalog.Finding
	Totals   catalog.Totals
	Visits   visits.Facts
}

type session struct {
	types.Session
	Since time.Time
}

type deadLetter struct {
	task.DeadLetter
	Broken string // why it could not be decoded
}

// cache keeps the latest snapshot, so that many visitors cost as much as one.
type cache struct {
	collect func(ctx context.Context, kept *catalogPart) (*snapshot, error) // nil: it reads the catalog

	mu            sync.Mutex // guards the fields below; held while a snapshot is collected
	latest        *snapshot
	collected     time.Time
	catalogReadAt time.Time // when the catalog part was read
}

// get returns a snapshot that is at most maxAge old; its part of the catalog may be maxCatalogAge old. One caller
// collects, and the others wait for it. With an error there is no snapshot, also if there was an older one.
func (c *cache) get(ctx context.Context) (*snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest != nil && time.Since(c.collected) < maxAge {
		return c.latest, nil
	}
	// Without cancellation, because other visitors wait for the snapshot too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectTimeout)
	defer cancel()
	began, catalogReadAt := time.Now(), c.catalogReadAt
	var kept *catalogPart
	if c.latest != nil && time.Since(c.catalogReadAt) < maxCatalogAge {
		kept = &c.latest.catalogPart
	} else {
		catalogReadAt = began
	}
	s, err := c.collect(ctx, kept)
	if err != nil {
		return nil, err
	}
	c.latest, c.collected, c.catalogReadAt = s, began, catalogReadAt
	return s, nil
}

// collect reads the spaces, and the catalog unless kept has its part, and renders the sections. Lists are cut to
// their limits, and the snapshot has their whole lengths.
func (p *Page) collect(ctx context.Context, kept *catalogPart) (*snapshot, error) {
	s := &snapshot{At: time.Now().UTC(), Insecure: p.Insecure, SignOut: p.SignOut}
	sessions, err := api.Sessions(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	s.More = max(0, len(sessions)-maxSessions)
	for _, x := range sessions[:len(sessions)-s.More] {
		at, _ := time.Parse(time.RFC3339, x.Since) // zero if a foreign client put another text
		s.Sessions = append(s.Sessions, session{x, at})
	}
	if s.Costs, err = api.Costs(ctx, p.Repo); err != nil {
		return nil, err
	}
	if s.Spaces, err = p.Repo.List(ctx); err != nil {
		return nil, err
	}
	if s.DeadAll, err = p.Repo.Space(task.Dead).Count(ctx, task.AnyDead()); err != nil {
		return nil, err
	}
	dead, _, err := task.Client{Repo: p.Repo}.List(ctx, task.Filter{State: task.StateDead}, nil, maxRows)
	if err != nil {
		return nil, err
	}
	for _, l := range dead {
		shown := deadLetter{DeadLetter: task.DeadLetter{Item: l.Item, Reason: l.Reason}}
		if l.Err != nil {
			shown.Broken = l.Err.Error()
		}
		s.Dead = append(s.Dead, shown)
	}
	if s.Schedules, err = (schedule.Client{Repo: p.Repo}).List(ctx); err != nil {
		return nil, err
	}
	s.SchedulesAll = len(s.Schedules)
	s.Schedules = s.Schedules[:min(s.SchedulesAll, maxSchedules)]
	if p.Health != nil {
		if err := p.Health(); err != nil {
			s.Trouble = err.Error()
		}
	}
	if kept != nil {
		s.catalogPart = *kept
	} else if s.catalogPart, err = p.readCatalog(ctx); err != nil {
		return nil, err
	}
	return s, s.render()
}

// readCatalog reads the totals, the latest problems and the first findings of the
// catalog, and the counters of visits.
func (p *Page) readCatalog(ctx context.Context) (c catalogPart, err error) {
	if c.Totals, err = p.Catalog.Totals(ctx); err != nil {
		return c, err
	}
	latest := catalog.Part{Offset: max(0, c.Totals.Problems-maxRows), Limit: maxRows}
	if c.Problems, _, err = p.Catalog.ProblemsOf(ctx, catalog.About{}, latest); err != nil {
		return c, err
	}
	slices.Reverse(c.Problems)
	if p.Visits != nil {
		if c.Visits, err = p.Visits.Facts(ctx); err != nil {
			return c, err
		}
	}
	c.Findings, _, err = p.Catalog.FindingsOf(ctx, catalog.About{}, catalog.Part{Limit: maxRows})
	return c, err
}

// render renders each section.
func (s *snapshot) render() error {
	s.HTML = map[string]template.HTML{}
	for _, name := range sections {
		var b bytes.Buffer
		if err := page.ExecuteTemplate(&b, name, s); err != nil {
			return err
		}
		s.HTML[name] = template.HTML(models.Redact(b.String()))
	}
	return nil
}
