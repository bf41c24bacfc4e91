package dashboard

import (
	"bytes"
	"context"
	"html/template"
	"slices"
	"sync"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/browse"
	"leasehold/shared/catalog"
	"leasehold/shared/space"
	"leasehold/shared/task"
)

const (
	// freshness is how old a picture may be.
	freshness = time.Second
	// recollection is how old what it shows of the catalog may be: to list that
	// costs as much as it is large.
	recollection = 5 * time.Second
	// takeTimeout bounds how long it may take to take one.
	takeTimeout = 10 * time.Second

	maxSessions = 200
	maxRows     = 20 // of what needs attention, and of findings
)

// A shot is what the page shows at one time.
type shot struct {
	At       time.Time
	Sessions []session
	More     int // sessions that are not shown
	Costs    []models.Cost
	Spaces   []space.Info
	Dead     []letter
	DeadAll  int
	Memory
	HTML map[string]template.HTML // each section, rendered
}

// Memory is what the picture shows of the catalog.
type Memory struct {
	Problems []catalog.Problem // the latest first
	Findings []catalog.Finding
	Totals   catalog.Totals
}

type session struct {
	apitypes.Session
	Since time.Time
}

type letter struct {
	task.DeadLetter
	Broken string
}

// album keeps the latest picture, so that many visitors cost as much as one.
type album struct {
	take func(context.Context, Memory, bool) (*shot, error)

	mu       sync.Mutex // guards what follows, and is held while one is taken
	shot     *shot
	taken    time.Time
	recalled time.Time
}

// latest returns a picture that is fresh. It must not be changed.
func (a *album) latest(ctx context.Context) (*shot, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shot != nil && time.Since(a.taken) < freshness {
		return a.shot, nil
	}
	// One visitor that leaves does not end what others wait for.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	var memory Memory
	recall := a.shot == nil || time.Since(a.recalled) >= recollection
	if !recall {
		memory = a.shot.Memory
	}
	began := time.Now()
	s, err := a.take(ctx, memory, recall)
	if err != nil {
		return nil, err
	}
	a.shot, a.taken = s, began
	if recall {
		a.recalled = began
	}
	return s, nil
}

// picture looks at everything, and at the catalog if it is to be recalled.
func (p *Page) picture(ctx context.Context, m Memory, recall bool) (*shot, error) {
	s := &shot{At: time.Now().UTC(), Memory: m}
	sessions, err := api.Sessions(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	s.More = max(0, len(sessions)-maxSessions)
	for _, x := range sessions[:len(sessions)-s.More] {
		at, _ := time.Parse(time.RFC3339, x.Since) // a stranger may say anything
		s.Sessions = append(s.Sessions, session{x, at})
	}
	if s.Costs, err = api.Costs(ctx, p.Repo); err != nil {
		return nil, err
	}
	if s.Spaces, err = p.Repo.List(ctx); err != nil {
		return nil, err
	}
	if err := p.attend(ctx, s); err != nil {
		return nil, err
	}
	if recall {
		if s.Memory, err = p.recall(ctx); err != nil {
			return nil, err
		}
	}
	return s, s.render()
}

// attend looks for dead letters.
func (p *Page) attend(ctx context.Context, s *shot) error {
	dead, err := browse.Client{Repo: p.Repo}.Page(ctx, browse.Query{Space: task.Dead, Template: task.AnyDead(), Limit: maxRows})
	if err != nil {
		return err
	}
	s.DeadAll = dead.Total
	for _, x := range dead.Entries {
		l, err := task.DecodeDeadLetter(x.Tuple)
		row := letter{DeadLetter: l}
		if err != nil {
			row.Broken = err.Error()
		}
		s.Dead = append(s.Dead, row)
	}
	return nil
}

// recall looks at the catalog.
func (p *Page) recall(ctx context.Context) (m Memory, err error) {
	if m.Totals, err = p.Catalog.Totals(ctx); err != nil {
		return m, err
	}
	latest := catalog.Part{Offset: max(0, m.Totals.Problems-maxRows), Limit: maxRows}
	if m.Problems, _, err = p.Catalog.ProblemsOf(ctx, catalog.About{}, latest); err != nil {
		return m, err
	}
	slices.Reverse(m.Problems)
	m.Findings, _, err = p.Catalog.FindingsOf(ctx, catalog.About{}, catalog.Part{Limit: maxRows})
	return m, err
}

// render renders each section.
func (s *shot) render() error {
	s.HTML = map[string]template.HTML{}
	for _, name := range sections {
		var b bytes.Buffer
		if err := page.ExecuteTemplate(&b, name, s); err != nil {
			return err
		}
		s.HTML[name] = template.HTML(b.String())
	}
	return nil
}
