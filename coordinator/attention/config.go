package attention

import (
	"context"
	"log/slog"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/coordinator/admission"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/code"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// Config has state from which items are computed. A part that is nil or empty is left out.
type Config struct {
	Health  func() error // of the catalog's database
	Catalog Catalog
	Visits  Visits
	Index   Index
	Invites Invites
	Check   Check        // of the trace
	Open    string       // the addresses at which clients beyond this machine are not authenticated
	Log     *slog.Logger // nil: slog.Default
}

// State is the parts of a coordinator that runs.
type State struct {
	Repo    space.Repository // a session of this process that is never lost; its calls are not repeated
	Engine  Engine
	Actions *actions.Source
}

// Engine is the part of an engine.Engine that checks read.
type Engine interface {
	Health() error
	Filled() []engine.SpaceFill
	Stats() engine.Stats
	Sessions() []engine.SessionInfo
}

// Catalog is the part that is read of a catalog.Catalog.
type Catalog interface {
	ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Problem, total int, err error)
}

// Visits is the part that is read of a visits.Store.
type Visits interface {
	Trouble(ctx context.Context, now time.Time) (visits.Trouble, error)
}

// Index is the part that is read of the code index.
type Index interface {
	Lacks() (code.Lack, error)
	Waits() (since time.Time, err error)
	Cluster() string // of the search server; empty if there is none, or it is not known yet
}

// Invites has the invites by which processes join: an auth.Auth.
type Invites interface {
	EndingInvites(ctx context.Context) ([]admission.Ending, error)
}

// Check has what the check of the trace found: a conformance.Check.
type Check interface {
	Conformance() models.Conformance
}

// allChecks returns the checks.
func (w *Watcher) allChecks() []check {
	return []check{
		{"the coordinator", interval, w.system},
		{"actions", interval, w.actions},
		{"workers", interval, w.workers},
		{"lost sessions", interval, w.lostSessions},
		{"suspects", interval, w.suspects},
		{"spaces", interval, w.spaces},
		{"schedules", interval, w.schedules},
		{"running attempts", slowly, w.slowAttempts},
		{"dead letters", slowly, w.deadLetters},
		{"visits", slowly, w.visits},
		{"recordings", slowly, w.recordings},
		{"the code index", slowly, w.index},
		{"the search server", interval, w.searchServer},
		{"invites", slowly, w.invites},
		{"the check of the trace", interval, w.conformance},
	}
}
