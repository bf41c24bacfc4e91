package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

func (s *server) listOrigins(ctx context.Context, q *request) (types.Page[models.Origin], error) {
	all, err := s.Catalog.Origins(ctx)
	if err != nil {
		return types.Page[models.Origin]{}, err
	}
	return s.pageOfOrigins(ctx, q, all)
}

func (s *server) listListers(ctx context.Context, q *request) (types.Page[models.Origin], error) {
	all, err := s.Catalog.Origins(ctx)
	if err != nil {
		return types.Page[models.Origin]{}, err
	}
	return s.pageOfOrigins(ctx, q, slices.DeleteFunc(all, func(o models.Origin) bool { return !o.Kind.Info().Lister }))
}

// pageOfOrigins cuts a page out of all, and marks the disabled origins in it.
func (s *server) pageOfOrigins(ctx context.Context, q *request, all []models.Origin) (types.Page[models.Origin], error) {
	page := cut(q, all)
	return page, s.markDisabled(ctx, page.Items)
}

// markDisabled marks the origins that the schedule does not visit; none without a schedule.
func (s *server) markDisabled(ctx context.Context, origins []models.Origin) error {
	if s.Visits == nil {
		return nil
	}
	return s.Visits.MarkDisabled(ctx, origins)
}

func (s *server) getOrigin(ctx context.Context, q *request) (models.Origin, error) {
	o, err := s.Catalog.Origin(ctx, q.text("origin"))
	if err != nil {
		return o, err
	}
	one := []models.Origin{o}
	err = s.markDisabled(ctx, one)
	return one[0], err
}

// checkOrigin refuses an origin that no manager could visit, with fault.ErrInvalid, with fault.ErrConflict if origins
// of the kind have no such URI or no branches, and for its hours as visits.CheckHours. It does not check whether a
// path exists, because the path is on the managers' machine. Its errors redact a URL before they cut it, because a
// password without the @ after it is not recognised later.
func checkOrigin(o types.NewOrigin) error {
	switch {
	case o.Kind.IsProgram() && o.Kind.Accepted(o.URI):
		return nil
	case o.Kind.IsProgram():
		return fmt.Errorf("uri %.100q of kind %s: %w: want a URI with a scheme, such as svn://host/path, of at most 4096 bytes", models.Redact(o.URI), o.Kind, fault.ErrConflict)
	case !o.Kind.Known():
		return fmt.Errorf("kind %.64q: %w: use %s", o.Kind, fault.ErrInvalid, wording.Or(append(models.VisitedKinds(), models.API)...))
	case o.URI == "" || len(o.URI) > models.MaxURI:
		return fmt.Errorf("uri: %w: want 1 to %d bytes", fault.ErrInvalid, models.MaxURI)
	case o.Every != nil && !models.ValidEvery(*o.Every):
		return fmt.Errorf("every_s %v: %w: %s", *o.Every, fault.ErrInvalid, models.EveryRule)
	case visits.CheckHours(o.Hours) != nil:
		return visits.CheckHours(o.Hours)
	case !models.ValidBranches(o.Branches) || !models.ValidBranches(o.Tags):
		return fmt.Errorf("%w: %s", fault.ErrInvalid, refsOf(o).CheckRefs())
	case refsOf(o).CheckRefs() != "":
		return fmt.Errorf("%w: %s", fault.ErrConflict, refsOf(o).CheckRefs())
	case o.Kind.Accepted(o.URI):
		return nil
	}
	return fmt.Errorf("uri %.100q of kind %s: %w: feeds, repositories and lists have an http(s) URL or a path, folders have a path; paths are absolute and clean",
		models.Redact(o.URI), o.Kind, fault.ErrConflict)
}

// isLocal reports whether a request comes from the coordinator's own machine, and so from the operator.
func isLocal(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// refsOf returns the kind, branches and tags of a new origin.
func refsOf(o types.NewOrigin) models.Origin {
	return models.Origin{Kind: o.Kind, Branches: o.Branches, Tags: o.Tags}
}

// requireLocal returns fault.ErrForbidden for a path in a request from another machine: managers
// read what an origin names, and only the operator may let them read files. Other URIs pass.
func requireLocal(r *http.Request, uri string) error {
	if !models.IsPath(uri) || isLocal(r) {
		return nil
	}
	return fmt.Errorf("uri %.100q: %w: a path can be added only on the coordinator's own machine", uri, fault.ErrForbidden)
}

// addOrigin adds an origin, and has it visited if it is new (201). A known one (200) gets the priority, if the
// request has one. One that a client on another machine adds is guarded as one that a list names, because the
// managers can reach addresses that such a client cannot.
func (s *server) addOrigin(ctx context.Context, q *request, n types.NewOrigin) (o models.Origin, err error) {
	if err := s.requireRegistered(ctx, n.Kind); err != nil {
		return o, err
	}
	if err := checkOrigin(n); err != nil {
		return o, err
	}
	if err := requireLocal(q.Request, n.URI); err != nil {
		return o, err
	}
	o = models.Origin{ID: models.NewID(string(n.Kind), n.URI), Kind: n.Kind, URI: n.URI, AddedAt: time.Now().UTC(), Every: n.Every, Hours: n.Hours, Branches: n.Branches, Tags: n.Tags, Listed: !isLocal(q.Request)}
	if n.Priority != nil { // else a known one keeps its own, because AddOrigin sets it
		o.Priority = *n.Priority
	} else if known, err := s.Catalog.Origin(ctx, o.ID); err == nil {
		o.Priority = known.Priority
	} else if !errors.Is(err, fault.ErrNotFound) {
		return o, err
	}
	isNew, err := s.Catalog.AddOrigin(ctx, o)
	if err != nil {
		return o, err
	}
	if isNew {
		q.location = v1 + "/origins/" + o.ID
	} else {
		q.status = http.StatusOK
	}
	return s.Catalog.Origin(ctx, o.ID)
}

// addLister is addOrigin for kinds that list other origins. It refuses any other kind.
func (s *server) addLister(ctx context.Context, q *request, l types.NewLister) (models.Origin, error) {
	n := l.NewOrigin
	n.Kind = l.Kind
	if !n.Kind.Info().Lister {
		return models.Origin{}, fmt.Errorf("kind %.64q: %w: use %s", n.Kind, fault.ErrInvalid, wording.Or(models.ListerKinds()...))
	}
	return s.addOrigin(ctx, q, n)
}

// checkPriority returns the priority of a body, or fault.ErrInvalid if it has none.
func checkPriority(p types.Priority) (int64, error) {
	if p.Priority == nil {
		return 0, fmt.Errorf("body: %w: want a priority", fault.ErrInvalid)
	}
	return *p.Priority, nil
}

// patchOrigin changes an origin. The hours and the interval come first, because only they can be refused.
func (s *server) patchOrigin(ctx context.Context, q *request, change types.OriginChange) (o models.Origin, err error) {
	if v := change.Visiting(); v != (models.Visiting{}) {
		if err := s.Visits.Set(ctx, time.Now(), q.text("origin"), v); err != nil {
			return o, err
		}
	}
	if change.Priority == nil {
		return s.getOrigin(ctx, q)
	}
	if o, err = s.Catalog.SetOriginPriority(ctx, q.text("origin"), *change.Priority); err != nil {
		return o, err
	}
	one := []models.Origin{o} // markDisabled sets the field Disabled
	err = s.markDisabled(ctx, one)
	return one[0], err
}

// removeOrigin removes an origin, its recordings and its files in the code index.
func (s *server) removeOrigin(ctx context.Context, q *request) (none, error) {
	err := s.Catalog.RemoveOrigin(ctx, q.text("origin"))
	if err != nil && !errors.Is(err, fault.ErrNotFound) || s.Index == nil {
		return none{}, err
	}
	// Also after a removal that was killed before this step.
	return none{}, errors.Join(err, s.Index.DropRepo(ctx, q.text("origin")))
}
