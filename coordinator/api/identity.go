package api

import (
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/authority"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

func (s *server) getIdentity(context.Context, *request) (types.Identity, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Identity{}, err
	}
	return ShowIdentity(a.Authority), nil
}

// getCaller shows the identity of a request. Without authentication every client is access.Everybody.
func (s *server) getCaller(ctx context.Context, _ *request) (types.Caller, error) {
	i := access.Of(ctx)
	c := types.Caller{ID: i.ID, Name: i.Name, Roles: i.Roles.With().Names(), Operations: []string{}}
	for _, r := range s.routes() {
		if Allows(i, r.id) {
			c.Operations = append(c.Operations, r.id)
		}
	}
	return c, nil
}

func (s *server) rotateIdentity(ctx context.Context, _ *request, n types.NewIdentity) (types.Identity, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Identity{}, err
	}
	switch {
	case n.Until.IsZero():
		return types.Identity{}, fmt.Errorf("until: %w: want the time at which the CA of today is accepted no more", fault.ErrInvalid)
	case n.Until.After(a.Now().Add(maxLife)):
		return types.Identity{}, fmt.Errorf("until %s: %w: want at most ten years from now", n.Until.Format(time.RFC3339), fault.ErrInvalid)
	}
	if err := a.Rotate(ctx, n.Until); err != nil {
		return types.Identity{}, err
	}
	return ShowIdentity(a.Authority), nil
}

// ShowIdentity returns the identity of an authority as the API shows it.
func ShowIdentity(a *authority.Authority) types.Identity {
	i := types.Identity{Fingerprint: a.Fingerprint().String(), Certificate: string(a.CertificatePEM())}
	if former, end := a.Former(); !end.IsZero() {
		i.Former = &types.FormerIdentity{Fingerprint: former.String(), Until: end}
	}
	return i
}
