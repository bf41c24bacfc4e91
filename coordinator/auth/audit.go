package auth

import (
	"context"
	"time"

	"leasehold/coordinator/admission"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

const (
	// maxNotes bounds the records that wait to be written; more make the requests wait.
	maxNotes = 1_000
	// noteTimeout bounds the time that one write of records takes.
	noteTimeout = 10 * time.Second
)

// Note adds a record of a change to the audit. It is written with others a moment later; a crash may lose it. It waits
// while too many records wait, until ctx ends.
func (a *Auth) Note(ctx context.Context, i access.Identity, address, action, object string, err error) {
	a.queue(ctx, a.record(i, address, action, object, err))
}

// NoteRoutine is Note for what programs do often, such as creating tasks, and for requests that are refused. Their records
// have a bound of their own, so that they do not push changes by people out of the audit.
func (a *Auth) NoteRoutine(ctx context.Context, i access.Identity, address, action, object string, err error) {
	r := a.record(i, address, action, object, err)
	r.Routine = true
	a.queue(ctx, r)
}

func (a *Auth) record(i access.Identity, address, action, object string, err error) admission.Record {
	outcome := "done"
	if err != nil {
		outcome = fault.Reason(err)
	}
	return admission.Record{At: a.Now(), Identity: i, Address: address, Action: action, Object: models.RedactSecrets(object), Outcome: models.RedactSecrets(outcome)}
}

// queue has a record written. It waits while too many wait, until ctx ends.
func (a *Auth) queue(ctx context.Context, r admission.Record) {
	select {
	case a.notes <- r: // also if the client has gone
		return
	default:
	}
	select {
	case a.notes <- r:
	case <-ctx.Done():
		a.Log.Error("auth: a record of the audit is missing: too many wait", "identity", r.Identity, "action", r.Action, "object", r.Object)
	}
}

const (
	// sawInterval is how often the peers that are connected are noted.
	sawInterval = 10 * time.Minute
	// endInterval is how often what tokens have is ended whose time has ended.
	endInterval = 10 * time.Second
)

// Run writes the audit until ctx ends, and then the records that wait. Every ten minutes it notes which peers are
// connected, and every ten seconds it calls EndExpired.
func (a *Auth) Run(ctx context.Context) {
	tick, end := time.NewTicker(sawInterval), time.NewTicker(endInterval)
	defer tick.Stop()
	defer end.Stop()
	for {
		select {
		case <-end.C:
			a.EndExpired()
		case <-tick.C:
			a.noteConnected(ctx)
		case first := <-a.notes:
			a.write(ctx, first)
		case <-ctx.Done():
			select {
			case first := <-a.notes:
				a.write(ctx, first)
			default:
				return
			}
		}
	}
}

// EndExpired ends the sessions and the waiting requests of tokens whose time has ended since the last call.
func (a *Auth) EndExpired() {
	a.mu.Lock()
	since := a.looked
	a.looked = a.Now()
	a.mu.Unlock()
	for _, id := range a.Store.EndedTokens(since) {
		a.ended(id)
	}
}

// Peers returns the peers that are connected or were within admission.Recent, or all.
func (a *Auth) Peers(ctx context.Context, all bool) []admission.Peer {
	a.noteConnected(ctx)
	return a.Store.Peers(all)
}

// noteConnected notes which peers are connected now.
func (a *Auth) noteConnected(ctx context.Context) {
	a.mu.Lock()
	connected := a.connected
	a.mu.Unlock()
	if connected == nil {
		return
	}
	if err := a.Store.Saw(ctx, connected()...); err != nil && ctx.Err() == nil {
		a.Log.Warn("auth: cannot note which processes are connected", "error", err)
	}
}

// write writes records with those that wait. Records that cannot be written are logged.
func (a *Auth) write(ctx context.Context, records ...admission.Record) {
	for len(a.notes) > 0 {
		records = append(records, <-a.notes) // only Run receives
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	if err := a.Store.Note(ctx, records...); err != nil {
		a.Log.Error("auth: records of the audit are missing", "number", len(records), "error", err)
	}
}
