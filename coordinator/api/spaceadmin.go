package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"leasehold/coordinator"
	"leasehold/coordinator/peer"
	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// isProtocols reports whether a protocol needs a space.
func isProtocols(name string) bool {
	return slices.ContainsFunc(coordinator.Definitions(), func(d space.Definition) bool { return d.Name == name })
}

// createSpace creates a space (201), which counts for the quota of the request's peer. If it exists with the same
// options, it is returned (200).
func (s *server) createSpace(ctx context.Context, q *request, n types.NewSpace) (types.Space, error) {
	if err := permission.Put(access.Of(ctx), n.Name); err != nil {
		return types.Space{}, err
	}
	options := space.Options{
		Kind: space.Kind(n.Kind), OrderBy: n.OrderBy, Capacity: n.Capacity, Overflow: space.Overflow(n.Overflow), Volatile: n.Volatile,
	}
	infos, err := s.repo.List(ctx)
	if err != nil {
		return types.Space{}, err
	}
	found := slices.ContainsFunc(infos, func(i space.Info) bool { return i.Name == n.Name })
	// The engine bounds the spaces of clients, but takes the API for one of the coordinator's own
	// processes, so the bound for clients is checked here.
	if !found && len(infos) >= engine.ClientSpaces {
		return types.Space{}, fmt.Errorf("%w: there are already %d spaces, the maximum", fault.ErrOverloaded, len(infos))
	}
	create := space.Request{Verb: space.VerbCreate, Space: n.Name, Options: options}
	if _, err := s.Spaces.Create(ctx, peer.OfText(q.RemoteAddr, s.Exempt), s.Conn, create); err != nil {
		return types.Space{}, err
	}
	if found {
		q.status = http.StatusOK
	}
	info, exists, err := s.findSpace(ctx, n.Name)
	if err == nil && !exists {
		err = fmt.Errorf("space %.100q was deleted meanwhile: %w", n.Name, fault.ErrNotFound)
	}
	return showSpace(info), err
}

// deleteSpace deletes a space, and with force its tuples. A space that a protocol needs is refused.
func (s *server) deleteSpace(ctx context.Context, q *request) (types.DeletedSpace, error) {
	name := q.text("space")
	switch {
	case isProtocols(name):
		return types.DeletedSpace{}, fmt.Errorf("space %s: %w: leasehold itself needs it", name, fault.ErrForbidden)
	case s.Engine == nil:
		return types.DeletedSpace{}, errNoEngine
	}
	removed, err := s.Engine.DeleteSpace(ctx, name, q.flag("force"))
	return types.DeletedSpace{Name: name, Tuples: removed}, err
}

// findSpace returns a space, and reports whether it exists.
func (s *server) findSpace(ctx context.Context, name string) (info space.Info, found bool, err error) {
	infos, err := s.repo.List(ctx)
	for _, i := range infos {
		if i.Name == name {
			return i, true, err
		}
	}
	return space.Info{}, false, err
}
