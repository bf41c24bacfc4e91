package attention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/process/build"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Lost sessions are items for lostFor, and listed for lostKept; maxLost bounds how many are remembered.
const (
	lostFor  = 10 * time.Minute
	lostKept = time.Hour
	maxLost  = 1000
	maxHeld  = 10 // tasks of a lost session that are named
)

// maxServed bounds for how many actions it is known who served them last.
const maxServed = 1000

// lostSession is a session that was lost.
type lostSession struct {
	id    string
	from  space.Process
	at    time.Time
	tasks []string // that it held
}

// NoteLost notes that a session was lost, with the tasks that it held at the last report, and returns these. It does not
// block, and may be called while an engine is locked.
func (w *Watcher) NoteLost(id string, p space.Process) (tasks []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	tasks = w.held[id]
	w.lost = append(w.lost, lostSession{id, p, time.Now(), tasks})
	w.lost = w.lost[max(0, len(w.lost)-maxLost):]
	return tasks
}

// lostSessions finds the machines whose sessions were lost lately. It keeps which tasks the live sessions hold.
func (w *Watcher) lostSessions(ctx context.Context, now time.Time) ([]models.Attention, error) {
	claims, err := w.state.Repo.Space(lease.Space).QueryAll(ctx, task.AnyClaim())
	if err != nil {
		return nil, err
	}
	held := map[string][]string{}
	for _, t := range claims {
		c := task.DecodeClaim(t)
		held[c.Worker] = append(held[c.Worker], c.Task)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
	w.lost = slices.DeleteFunc(w.lost, func(s lostSession) bool { return now.Sub(s.at) >= lostKept })
	machines := map[string][]lostSession{}
	for _, s := range w.lost {
		if s.isCommand() || now.Sub(s.at) >= lostFor {
			continue
		}
		machine := cmp.Or(s.from.Host, s.id)
		machines[machine] = append(machines[machine], s)
	}
	var items []models.Attention
	for machine, all := range machines {
		items = append(items, lostItem(machine, all))
	}
	return cut(items), nil
}

// isCommand reports whether it was a command without tasks, which a user has killed.
func (s lostSession) isCommand() bool { return strings.HasPrefix(s.id, "client-") && len(s.tasks) == 0 }

// Lost lists the sessions that were lost in the last hour, the latest first.
func (w *Watcher) Lost() []models.LostSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []models.LostSession
	for _, s := range slices.Backward(w.lost) {
		if !s.isCommand() && time.Since(s.at) < lostKept {
			all = append(all, models.LostSession{ID: s.id, Name: s.from.Name, Host: s.from.Host, At: s.at, Tasks: slices.Clone(s.tasks)})
		}
	}
	return all
}

// lostItem is the item of the sessions of a machine that were lost.
func lostItem(machine string, all []lostSession) models.Attention {
	var tasks, names []string
	for _, s := range all {
		tasks = append(tasks, s.tasks...)
		names = append(names, name(cmp.Or(s.from.Name, s.id)))
	}
	n := int64(len(all))
	i := models.Attention{
		Cause: models.CauseLost, Severity: models.Degrades, About: machine, Count: n, Example: all[len(all)-1].id, Since: all[0].at,
		Text:    fmt.Sprintf("%s of %s lost: no heartbeat came in time (%s)", count(n, "session"), name(machine), strings.Join(names[:min(n, 3)], ", ")),
		Command: "leasehold session list",
		Remedy:  seen(),
	}
	if len(tasks) > 0 {
		i.Detail = fmt.Sprintf("Held %s, which others can claim now: %s", count(int64(len(tasks)), "task"), strings.Join(tasks[:min(len(tasks), maxHeld)], ", "))
		i.Example = tasks[0]
	}
	return i
}

// suspended counts the sessions that serve an action and have no slot for it now. It keeps who serves each action.
func (w *Watcher) suspended(ctx context.Context, now time.Time) (map[string]int, error) {
	all, err := w.state.Repo.Space(status.Space).QueryAll(ctx, status.MatchServing(tuple.AnyString, tuple.AnyString))
	if err != nil {
		return nil, err
	}
	suspended := map[string]int{}
	w.unable = map[string][]string{}
	for _, t := range all {
		s := status.DecodeServing(t)
		if _, known := w.servers[s.Action]; known || len(w.servers) < maxServed {
			w.servers[s.Action] = server{s.ID, now}
		}
		if s.Slots <= 0 {
			suspended[s.Action]++
			w.unable[s.ID] = append(w.unable[s.ID], s.Action)
		}
	}
	return suspended, nil
}

// server is the session that served an action last.
type server struct {
	id string
	at time.Time
}

// lastServed tells who served an action last and how that session ended; empty if that is not known.
func (w *Watcher) lastServed(action string) string {
	s, known := w.servers[action]
	if !known {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range slices.Backward(w.lost) {
		if l.id == s.id {
			return fmt.Sprintf("Last served by %s of %s, whose heartbeats stopped; lost at %s.", name(cmp.Or(l.from.Name, l.id)), name(cmp.Or(l.from.Host, "an unknown machine")), clock(l.at))
		}
	}
	return fmt.Sprintf("Last served by %s until %s.", name(s.id), clock(s.at))
}

// workers finds sessions whose machines cannot do an action now, whose versions or whose clocks differ from the
// coordinator's. It runs after actions, which fills unable.
func (w *Watcher) workers(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	for session, names := range w.unable {
		state := ""
		found, err := w.state.Repo.Space(status.Space).QueryAll(ctx, status.StateOf(session))
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			state = status.DecodeState(found[0]).State
		}
		if state != "draining" {
			items = append(items, unable(session, names, state))
		}
	}
	items = cut(items)
	clocks, err := status.Clocks(ctx, w.state.Repo)
	if err != nil {
		return nil, err
	}
	var differ []models.Attention
	for _, c := range clocks {
		differ = append(differ, wrongClock(c))
	}
	return append(append(items, cut(differ)...), w.versions()...), nil
}

func unable(session string, actions []string, state string) models.Attention {
	slices.Sort(actions)
	return models.Attention{
		Cause: models.CauseOwnFault, Severity: models.Degrades, About: session, Count: int64(len(actions)), Example: session,
		Text:    fmt.Sprintf("Worker %s cannot do %s now, and gives its tasks back", name(session), name(strings.Join(actions, ", "))),
		Detail:  state,
		Command: "leasehold drain " + word(session),
		Remedy:  remedy("Drain "+name(session), "drainSession", "session", session),
	}
}

// wrongClock is the item of a session whose clock differs from the coordinator's.
func wrongClock(c status.Clock) models.Attention {
	way := "ahead of"
	if c.Ahead < 0 {
		way = "behind"
	}
	return models.Attention{
		Cause: models.CauseClocks, Severity: models.ToKnow, About: c.ID, Count: 1, Example: c.ID,
		Text:    fmt.Sprintf("The clock of %s is %s %s the coordinator's", name(c.ID), c.Ahead.Abs().Round(100*time.Millisecond), way),
		Detail:  "Times of its attempts and log lines are off by that. Deadlines are not, because the coordinator's clock decides them. Synchronise the clocks, and start the process again.",
		Command: "timedatectl status",
		Remedy:  seen(),
	}
}

// versions finds the managers and workers of each other version.
func (w *Watcher) versions() (items []models.Attention) {
	by := map[string][]string{}
	for _, s := range w.state.Engine.Sessions() {
		if v := s.Process.Version; v != "" && v != build.Version() && (s.Process.Mode == "worker" || s.Process.Mode == "manager") {
			by[v] = append(by[v], s.ID)
		}
	}
	for version, all := range by {
		n := int64(len(all))
		items = append(items, models.Attention{
			Cause: models.CauseVersions, Severity: models.ToKnow, About: version, Count: n, Example: all[0],
			Text:    fmt.Sprintf("%s of version %s; the coordinator is %s", count(n, "session"), name(version), build.Version()),
			Command: "leasehold drain " + word(all[0]),
			Remedy:  remedy("Drain "+name(all[0]), "drainSession", "session", all[0]),
		})
	}
	return cut(items)
}
