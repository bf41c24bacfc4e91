// Package manager takes visits, runs the flow of their kind, and keeps the flows running:
// a flow selects work, issues it as leased work-items, and ingests the results of
// workers.
//
// A manager is one session; any number of managers work on one set of spaces. All state
// is in the spaces and the catalog. If a manager dies, the visits and results that it
// held return to the spaces, and its leases expire.
package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
)

// Flow visits origins of some kinds, and does the work that follows from the visits.
type Flow interface {
	// Visit visits an origin. An error is a failed visit; fault.ErrNotFound means that
	// the origin no longer exists.
	Visit(ctx context.Context, v models.Visit) (models.Outcome, error)
	// Run issues work and ingests results over repo until ctx ends or the session
	// does (fault.ErrClosed).
	Run(ctx context.Context, repo space.Repository) error
}

// Robots reads what the robots.txt of a URL's host asks for (shared/fetch.Fetcher).
type Robots interface {
	// CrawlDelay returns the wait between two requests; known is false if it could not be read.
	CrawlDelay(ctx context.Context, uri string) (delay time.Duration, known bool)
}

// Config is the configuration of a manager.
type Config struct {
	Flows  map[models.FlowName]Flow // by the name that the tables in package models give them
	Slots  int                      // visits at once; 0: 1
	Robots Robots                   // nil: robots.txt is not read
	// SetPace is called before each visit with the limits of the requests of one host (fetch.Fetcher.SetPace); nil:
	// there are none.
	SetPace   func(slots int, longestGap time.Duration)
	Heartbeat time.Duration
	Beat      func()        // called after each heartbeat that arrived; nil: nothing is called
	Grace     time.Duration // how long closing the session may take
	Log       *slog.Logger  // nil: slog.Default
}

// Run manages until ctx ends or the coordinator asks it to drain (status.Drain), and returns nil;
// visits and results that it held return to the spaces. Run replaces a lost session by a new one.
// Any other error of a session, such as one of a flow, ends it.
func Run(ctx context.Context, connect status.Connect, c Config) error {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	err := status.Reconnect(ctx, connect, c.Log, c.runSession)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("manager: %w", err)
	}
	return nil
}

// runSession manages until ctx or the session ends, or the coordinator asks it to drain. If one of
// its parts fails, it stops the others, waits for them, and returns that error. It closes the
// session last, which returns what it held, and has Config.Grace for that even if ctx has ended.
func (c Config) runSession(ctx context.Context, repo space.Repository) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heartbeat := status.NewHeartbeat(repo, c.Heartbeat, map[string]int{visit.Action: max(c.Slots, 1)})
	heartbeat.Arrived = c.Beat
	state := visiting{heartbeat: heartbeat}
	parts := []func() error{
		func() error { return heartbeat.Run(ctx) },
		func() error { return c.listen(ctx, repo, cancel) },
	}
	for range max(c.Slots, 1) {
		parts = append(parts, func() error { return c.visitInTurn(ctx, repo, &state) })
	}
	for _, f := range c.Flows {
		parts = append(parts, func() error { return f.Run(ctx, repo) })
	}
	failed := make(chan error, len(parts))
	var running sync.WaitGroup
	for _, part := range parts {
		running.Go(func() {
			if err := part(); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	running.Wait()
	closing, stop := context.WithTimeout(context.Background(), c.Grace)
	defer stop()
	if len(failed) == 0 {
		status.Leave(closing, repo, "stopped; visits that had not finished were handed back")
	}
	closed := repo.Close(closing)
	select {
	case err := <-failed:
		return err
	default:
		return closed
	}
}

// listen receives the messages of the coordinator until ctx or the session ends, and calls drain
// when asked to. It returns nil when ctx ends, else the error of the session.
func (c Config) listen(ctx context.Context, repo space.Repository, drain func()) error {
	for {
		message, err := repo.Receive(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case status.IsDrain(message):
			c.Log.Info("manager: draining on request", "session", repo.Session())
			drain()
		}
	}
}

// visiting shows in the state of a session what its slots visit.
type visiting struct {
	heartbeat *status.Heartbeat
	mu        sync.Mutex
	origins   []models.Origin // visited now, in the order in which the visits began
}

// beginVisit notes that a visit of an origin begins, and shows it in the heartbeat.
func (x *visiting) beginVisit(o models.Origin) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.origins = append(x.origins, o)
	x.showFirst()
}

// endVisit notes that a visit has ended, which began before. The heartbeat then shows another visit under way, or
// this one as the last.
func (x *visiting) endVisit(o models.Origin) {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.origins, func(other models.Origin) bool { return other.ID == o.ID })
	x.origins = slices.Delete(x.origins, i, i+1)
	if len(x.origins) > 0 {
		x.showFirst()
		return
	}
	x.heartbeat.SetState("idle, last visit: " + o.URI)
}

// showFirst names the visit that began first; mu must be held.
func (x *visiting) showFirst() {
	more := ""
	if n := len(x.origins) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	x.heartbeat.SetState(fmt.Sprintf("visiting: %s %s%s", x.origins[0].Kind, x.origins[0].URI, more))
}

// visitInTurn is one slot: it takes a visit, makes it, ends it and takes the next, until ctx ends (nil) or the
// session fails. A visit that fails is an outcome, not an error. When ctx ends during a visit, it is handed back
// with the session. A stale outcome is dropped, because the visit timed out and another manager has it.
func (c Config) visitInTurn(ctx context.Context, repo space.Repository, state *visiting) error {
	client := visit.Client{Repo: repo}
	for {
		v, err := client.Take(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		v.Origin.URI = models.Redact(v.Origin.URI) // flows read the origin from the catalog
		if c.SetPace != nil && v.HostSlots > 0 {
			c.SetPace(v.HostSlots, v.LongestGap.Duration())
		}
		state.beginVisit(v.Origin)
		outcome, visitErr := Visit(ctx, c.Flows, v)
		outcome.CrawlDelay = c.crawlDelay(ctx, v, outcome)
		if ctx.Err() != nil {
			return nil
		}
		if visitErr != nil {
			status.Tell(c.Log, slog.LevelWarn, "", "visit of %s %s failed: %s", v.Origin.Kind, v.Origin.URI, outcome.Error)
		} else {
			status.Tell(c.Log, slog.LevelInfo, "", "visited %s %s: %s, %d items", v.Origin.Kind, v.Origin.URI, outcome.Status, outcome.Items)
		}
		state.endVisit(v.Origin)
		if err := client.End(ctx, outcome); err != nil && !errors.Is(err, fault.ErrStaleToken) {
			return err
		}
	}
}

// crawlDelay returns the Crawl-delay of the host that answered the visit of an origin; nil if it is not known. A host that could not be
// reached or asks for a pause is not asked.
func (c Config) crawlDelay(ctx context.Context, v models.Visit, o models.Outcome) *models.Seconds {
	if c.Robots == nil || !models.IsWebURL(v.Origin.URI) || o.Fault == models.HostFault || o.RetryAfter > 0 {
		return nil
	}
	delay, known := c.Robots.CrawlDelay(ctx, cmp.Or(o.Answered, v.Origin.URI))
	if !known {
		return nil
	}
	s := models.SecondsOf(delay)
	return &s
}

// Visit runs the flow of a visit's kind. The outcome is complete even if the visit failed; then err is the
// reason, and the status is NotFound for fault.ErrNotFound and Failed for any other. The outcome has the error
// without passwords.
func Visit(ctx context.Context, flows map[models.FlowName]Flow, v models.Visit) (outcome models.Outcome, err error) {
	began := time.Now()
	ctx, answered := fetch.WithAnswered(ctx)
	if f := flows[v.Origin.Kind.Info().Flow]; f != nil {
		outcome, err = f.Visit(ctx, v)
	} else {
		err = fmt.Errorf("no flow of this manager visits origins of kind %q: %w", v.Origin.Kind, fault.ErrInvalid)
	}
	if err != nil {
		outcome.Status, outcome.Error, outcome.Fault = models.Failed, models.Redact(err.Error()), fetch.FaultOf(err)
		if errors.Is(err, fault.ErrNotFound) {
			outcome.Status = models.NotFound
		}
	}
	outcome.Answered = answered.URL()
	outcome.Visit, outcome.Origin = v.ID, v.Origin.ID
	outcome.At, outcome.Took = began.UTC(), models.SecondsOf(time.Since(began))
	return outcome, err
}
