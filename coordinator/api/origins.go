package api

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/fault"
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

// check refuses what no manager could visit. A path is one of the machine on
// which the manager runs, so it cannot be looked at here.
func checkOrigin(o apitypes.NewOrigin) error {
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
	case isURL && slices.Contains([]models.OriginKind{models.Feed, models.Git, models.OPML, models.URLs}, o.Kind), isPath:
		return nil
	}
	return fmt.Errorf("uri %.100q: %w: feeds, repositories and lists have an http(s) URL or a path, folders have a path; paths are absolute and clean", o.URI, fault.ErrInvalid)
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
	var wanted apitypes.NewOrigin
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	return s.add(ctx, r, wanted)
}

func (s *server) add(ctx context.Context, r *http.Request, wanted apitypes.NewOrigin) (any, error) {
	if err := checkOrigin(wanted); err != nil {
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
	return reply{status: http.StatusCreated, location: "/api/v1/origins/" + o.ID, body: o}, nil
}

func askPriority(r *http.Request) (int64, error) {
	var p apitypes.Priority
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
