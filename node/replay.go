package node

import (
	"context"
	"errors"
	"fmt"

	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Replay applies recorded outcomes of visits to a schedule in memory, which is empty at first. It
// is for one goroutine.
type Replay struct{ db *database.Database }

// NewReplay opens an empty schedule with the policies and rules of plan.
func NewReplay(ctx context.Context, plan *policy.Plan) (*Replay, error) {
	db, err := database.OpenPlan(ctx, database.Memory, plan)
	if err != nil {
		return nil, err
	}
	return &Replay{db: db}, nil
}

// Close removes the schedule.
func (r *Replay) Close() error { return r.db.Close() }

// Apply records o, and returns its effect and the schedule of its origin after it. An unknown
// origin is added first. It fails with fault.ErrInvalid for an outcome without a time or an origin.
func (r *Replay) Apply(ctx context.Context, o models.Outcome) (policy.Effect, visits.OriginSchedule, error) {
	s := r.db.Visits
	if o.At.IsZero() || !models.ValidID(o.Origin) {
		return policy.Effect{}, visits.OriginSchedule{}, fmt.Errorf("%w: want the id of an origin and the time of its visit", fault.ErrInvalid)
	}
	if _, err := s.Schedule(ctx, o.At, o.Origin); errors.Is(err, fault.ErrNotFound) {
		named := visits.Named{Origin: models.Origin{ID: o.Origin, Kind: models.Feed, URI: o.Origin}}
		if err := s.List(ctx, o.At, visits.Listing{Origins: []visits.Named{named}}); err != nil {
			return policy.Effect{}, visits.OriginSchedule{}, err
		}
	}
	effects, err := s.Record(ctx, o.At, []models.Outcome{o})
	if err != nil {
		return policy.Effect{}, visits.OriginSchedule{}, err
	}
	after, err := s.Schedule(ctx, o.At, o.Origin)
	return effects[0], after, err
}
