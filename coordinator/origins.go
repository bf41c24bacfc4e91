package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// addListed adds the origins that a lister named, if o is the outcome of one. Origins that no manager of ours
// would name are left out, and a lister that was removed meanwhile has no effect. It may be repeated, as every
// step of recording an outcome.
func addListed(ctx context.Context, c catalog.Catalog, s *visits.Store, o models.Outcome) error {
	if o.Listed == nil || o.Status == models.Lost {
		return nil
	}
	lister, err := c.Origin(ctx, o.Origin)
	if errors.Is(err, fault.ErrNotFound) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	l := visits.Listing{Lister: o.Origin, Visit: o.Visit, From: o.Listed.From, Next: o.Listed.Next, Full: o.Listed.Full}
	if len(o.Listed.Origins) > models.MaxListed {
		return nil // no manager of ours names more
	}
	programs, err := s.Programs(ctx)
	if err != nil {
		return err
	}
	for _, n := range o.Listed.Origins {
		if !lister.MayList(n) || n.Kind.IsProgram() && !slices.Contains(programs, n.Kind) {
			continue // a manager of ours never names it
		}
		named := visits.Named{Created: n.Created, Updated: n.Updated, Fork: n.Fork || n.ForkOf != "", ForkOf: models.Redact(n.ForkOf), Metadata: n.Metadata, Origin: models.Origin{
			ID: models.NewID(string(n.Kind), n.URI), Kind: n.Kind, URI: n.URI, Priority: lister.Priority, AddedAt: time.Now().UTC(), Listed: true,
		}}
		if n.Kind == models.Git { // other kinds have none
			named.Branches, named.Tags = lister.Branches, lister.Tags
		}
		l.Origins = append(l.Origins, named)
	}
	err = s.List(ctx, time.Now(), l)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}

// Push adds the origins that a program lists, as a visit of a lister does. The lister is an origin of kind
// models.Pushed. Each push has the time as the id of its visit, because no visit was claimed for it.
func Push(ctx context.Context, c catalog.Catalog, s *visits.Store, lister string, named models.Listed) error {
	at := time.Now().UTC()
	id := fmt.Sprintf("push-%016x", at.UnixNano())
	return addListed(ctx, c, s, models.Outcome{Visit: id, Origin: lister, Status: models.Eventful, At: at, Listed: &named})
}
