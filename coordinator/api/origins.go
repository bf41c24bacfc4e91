package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/visit"
)

func itself[T any](v T) T { return v }

func (s *server) listOrigins(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit")
	p := q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := s.Catalog.Origins(ctx)
	return cut(all, p, itself), err
}

func (s *server) origin(ctx context.Context, r *http.Request) (models.Origin, error) {
	id, err := pathID(r, "origin")
	if err != nil {
		return models.Origin{}, err
	}
	return s.Catalog.Origin(ctx, id)
}

func (s *server) getOrigin(ctx context.Context, r *http.Request) (any, error) {
	return s.origin(ctx, r)
}

// newOrigin is what POST /origins takes.
type newOrigin struct {
	Kind     models.OriginKind `json:"kind"`
	URI      string            `json:"uri"`
	Priority int64             `json:"priority"`
}

// check refuses what no manager could visit. A path is one of the machine on
// which the manager runs, so it cannot be looked at here.
func (o newOrigin) check() error {
	u, err := url.Parse(o.URI)
	isURL := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	isPath := path.IsAbs(o.URI) && path.Clean(o.URI) == o.URI
	switch {
	case !slices.Contains(models.OriginKinds, o.Kind) && o.Kind != models.API:
		return fmt.Errorf("kind %.64q: %w: accepted are %v and %s", o.Kind, fault.ErrInvalid, models.OriginKinds, models.API)
	case len(o.URI) > 4096:
		return fmt.Errorf("uri: %w: at most 4096 bytes", fault.ErrInvalid)
	case o.Kind == models.API && o.URI != "":
		return nil
	case isURL && o.Kind == models.Feed, isPath:
		return nil
	}
	return fmt.Errorf("uri %.100q: %w: a feed has an http(s) URL or a path, other kinds have a path; paths are absolute and clean", o.URI, fault.ErrInvalid)
}

// mayName refuses a path that comes from another machine: managers read what an
// origin names, and only the operator may have them read files.
func mayName(r *http.Request, uri string) error {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if !path.IsAbs(uri) || err == nil && from.Addr().Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("uri %.100q: %w: a path can be added only on the coordinator's own machine", uri, fault.ErrForbidden)
}

// addOrigin adds an origin and has it visited.
func (s *server) addOrigin(ctx context.Context, r *http.Request) (any, error) {
	var wanted newOrigin
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	if err := mayName(r, wanted.URI); err != nil {
		return nil, err
	}
	o := models.Origin{
		ID: models.NewID(string(wanted.Kind), wanted.URI), Kind: wanted.Kind, URI: wanted.URI, Priority: wanted.Priority, AddedAt: time.Now().UTC(),
	}
	isNew, err := s.Catalog.AddOrigin(ctx, o)
	if err != nil {
		return nil, err
	}
	if o, err = s.Catalog.Origin(ctx, o.ID); err != nil {
		return nil, err
	}
	if !isNew {
		return o, nil
	}
	if o.Kind != models.API {
		if _, err := s.visit(ctx, o); err != nil {
			return nil, err
		}
	}
	return reply{status: http.StatusCreated, location: "/api/v1/origins/" + o.ID, body: o}, nil
}

// priority is what the PATCH routes take.
type priority struct {
	Priority *int64 `json:"priority"`
}

func askPriority(r *http.Request) (int64, error) {
	var p priority
	if err := body(r, &p); err != nil {
		return 0, err
	}
	if p.Priority == nil {
		return 0, fmt.Errorf("body: %w: a priority is wanted", fault.ErrInvalid)
	}
	return *p.Priority, nil
}

func (s *server) patchOrigin(ctx context.Context, r *http.Request) (any, error) {
	o, err := s.origin(ctx, r)
	if err != nil {
		return nil, err
	}
	if o.Priority, err = askPriority(r); err != nil {
		return nil, err
	}
	_, err = s.Catalog.AddOrigin(ctx, o)
	return o, err
}

func (s *server) removeOrigin(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "origin")
	if err != nil {
		return nil, err
	}
	return nil, s.Catalog.RemoveOrigin(ctx, id)
}

// A visitRow is a visit that waits or goes on.
type visitRow struct {
	ID     string            `json:"id"`
	Kind   models.OriginKind `json:"kind"`
	Origin string            `json:"origin"`
	State  string            `json:"state"` // waiting, held
	Holder string            `json:"holder,omitempty"`
}

func rowOfVisit(x browse.Seen) visitRow {
	row := visitRow{ID: x.Tuple.Str(3), Kind: models.OriginKind(x.Tuple.Str(1)), Origin: x.Tuple.Str(2), State: "waiting", Holder: x.Holder}
	if x.Held {
		row.State = "held"
	}
	return row
}

func (s *server) listVisits(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "origin")
	origin, p := q.id("origin"), q.part(MaxTuples)
	if q.err != nil {
		return nil, q.err
	}
	page, err := s.visitsOf(ctx, origin, p)
	return seen(page, rowOfVisit), err
}

// visitsOf looks for the visits of an origin, or of all.
func (s *server) visitsOf(ctx context.Context, origin string, p part) (browse.Page, error) {
	t := visit.Any()
	if origin != "" {
		t[2] = origin
	}
	return s.browse.Look(ctx, browse.Query{Space: visit.Space, Template: t, Held: true, Offset: p.offset, Limit: p.limit})
}

// seen shows a page of tuples.
func seen[T any](page browse.Page, f func(browse.Seen) T) list[T] {
	l := cut(page.Seen, part{0, len(page.Seen)}, f)
	l.Total = page.Total
	return l
}

// newVisit is what POST /visits takes.
type newVisit struct {
	Origin string `json:"origin"` // id
}

// addVisit has an origin visited now, unless a visit of it is on its way.
func (s *server) addVisit(ctx context.Context, r *http.Request) (any, error) {
	var wanted newVisit
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	o, err := s.Catalog.Origin(ctx, wanted.Origin)
	if err != nil {
		return nil, err
	}
	row, err := s.visit(ctx, o)
	return reply{status: http.StatusAccepted, body: row}, err
}

func (s *server) visit(ctx context.Context, o models.Origin) (visitRow, error) {
	if o.Kind == models.API {
		return visitRow{}, fmt.Errorf("origin %s: %w: its curator comes by itself", o.ID, fault.ErrInvalid)
	}
	page, err := s.visitsOf(ctx, o.ID, part{0, 1})
	if err != nil {
		return visitRow{}, err
	}
	if len(page.Seen) > 0 {
		return rowOfVisit(page.Seen[0]), nil
	}
	v := models.Visit{ID: fmt.Sprintf("visit-%08x", rand.Uint32()), Origin: o}
	return visitRow{ID: v.ID, Kind: o.Kind, Origin: o.ID, State: "waiting"}, s.visits.Put(ctx, v)
}
