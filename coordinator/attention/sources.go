package attention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space/engine"
)

// managerless is how long no manager is connected before that is an item, because a manager may start again.
const managerless = 30 * time.Second

// hasManager reports whether a manager is connected, or was within managerless.
func (w *Watcher) hasManager(now time.Time) bool {
	isManager := func(s engine.SessionInfo) bool { return s.Process.Mode == "manager" }
	if w.managed.IsZero() || slices.ContainsFunc(w.state.Engine.Sessions(), isManager) {
		w.managed = now
	}
	return now.Sub(w.managed) < managerless
}

// noManager finds out whether visits wait for a manager. due tells that an origin could be visited now; the coordinator
// puts its visit once a manager is there.
func (w *Watcher) noManager(ctx context.Context, due bool) (items []models.Attention, err error) {
	if !due {
		_, due, err = w.state.Repo.Space(visit.Space).QueryP(ctx, visit.Any()) // of a manager that has gone
	}
	if err != nil || !due {
		return nil, err
	}
	return []models.Attention{{
		Cause: models.CauseNoManager, Severity: models.StopsWork, About: "manager", Count: 1,
		Text:    "Origins are due, and no manager is connected: nothing is visited",
		Command: "leasehold manager", Remedy: seen(),
	}}, nil
}

// visits finds hosts that rest, origins that are disabled after visits that failed, and visits that no manager makes.
func (w *Watcher) visits(ctx context.Context, now time.Time) (items []models.Attention, err error) {
	if w.Visits == nil {
		return nil, nil
	}
	t, err := w.Visits.Trouble(ctx, now)
	if err != nil {
		return nil, err
	}
	var unmanaged []models.Attention
	if !w.hasManager(now) {
		if unmanaged, err = w.noManager(ctx, t.Due); err != nil {
			return nil, err
		}
	}
	for _, h := range t.Hosts {
		if h.Origins == 0 {
			continue
		}
		n := int64(h.Origins)
		i := models.Attention{
			Cause: models.CauseHostRests, Severity: models.Degrades, About: h.Host, Count: n, Example: h.Example, Since: h.Since,
			Text:    fmt.Sprintf("%s rests until %s, and %s wait%s", name(h.Host), clock(h.Until), count(n, "origin"), verb(n)),
			Detail:  "It asked for that (Retry-After).",
			Command: "leasehold origin save-now --force " + word(h.Example),
			Remedy:  with(remedy("Try "+name(h.Host)+" now", "steerOrigin", "origin", h.Example), types.Steering{Action: types.ForceNow}),
		}
		if h.Failures > 0 {
			i.Detail = fmt.Sprintf("%s in a row could not connect.", count(int64(h.Failures), "visit"))
		}
		if h.Overflows > 0 {
			i.Detail += fmt.Sprintf(" Their documents have lost items unseen %d times so far.", h.Overflows)
		}
		items = append(items, i)
	}
	items = append(cut(items), unmanaged...)
	for _, d := range t.Disabled {
		n := int64(d.Origins)
		items = append(items, models.Attention{
			Cause: models.CauseDisabled, Severity: models.Degrades, About: d.Reason, Count: n, Example: d.ID,
			Text:    fmt.Sprintf("%s not visited any more: %s", count(n, "origin"), map[string]string{"failures": "too many visits failed", "gone": "their servers answered that they are gone"}[d.Reason]),
			Detail:  "Such as " + name(d.URI),
			Command: "leasehold origin enable " + word(d.ID),
			Remedy:  with(remedy("Enable "+name(d.URI), "steerOrigin", "origin", d.ID), types.Steering{Action: types.Enable}),
		})
	}
	return items, nil
}

// maxProblems is how many problems of the catalog are read, the latest.
const maxProblems = 1000

// recordings finds clips with problems, and episodes that failed for a reason that may pass.
func (w *Watcher) recordings(ctx context.Context, _ time.Time) ([]models.Attention, error) {
	if w.Catalog == nil {
		return nil, nil
	}
	list, total, err := w.Catalog.ProblemsOf(ctx, catalog.About{}, catalog.Part{Limit: maxProblems})
	if err == nil && total > maxProblems {
		list, _, err = w.Catalog.ProblemsOf(ctx, catalog.About{}, catalog.Part{Offset: total - maxProblems, Limit: maxProblems})
	}
	if err != nil {
		return nil, err
	}
	var clips, episodes []catalog.Problem
	for _, p := range list {
		switch {
		case p.Harmless:
		case p.NoClip, p.EpisodeID == "" && p.ClipID != "":
			clips = append(clips, p)
		case p.EpisodeID != "" && !p.RetryAt.IsZero():
			episodes = append(episodes, p)
		}
	}
	var items []models.Attention
	if len(clips) > 0 {
		items = append(items, badClips(clips[0], int64(len(clips))))
	}
	if len(episodes) > 0 {
		p, n := episodes[0], int64(len(episodes))
		i := recordingsItem(models.CauseEpisodes, "episode", n, p, p.EpisodeID, cmp.Or(p.EpisodeTitle, p.EpisodeID))
		i.Remedy = with(remedy("Try all again", "retryProblems"), types.Retry{})
		i.Command = "leasehold episode retry --problems"
		items = append(items, i)
	}
	return items, nil
}

// badClips is the item of n clips with problems; p is the first one. A file that the catalog does not take as a clip is
// read again by a visit of its folder.
func badClips(p catalog.Problem, n int64) models.Attention {
	title := cmp.Or(p.ClipTitle, p.ClipID, p.Item)
	if p.NoClip {
		i := recordingsItem(models.CauseBadClips, "clip", n, p, p.OriginID, title)
		i.Remedy = with(remedy("Visit its folder now", "requestVisit"), map[string]string{"origin": p.OriginID})
		i.Command = "leasehold origin save-now " + word(p.OriginID)
		return i
	}
	i := recordingsItem(models.CauseBadClips, "clip", n, p, p.ClipID, title)
	i.Remedy = with(remedy("Try "+name(title)+" again", "retryProblems"), types.Retry{Clip: p.ClipID, Lasting: p.RetryAt.IsZero()})
	i.Command = "leasehold clips retry " + word(p.ClipID)
	return i
}

// recordingsItem is the item of n recordings with problems; p is the first one.
func recordingsItem(c models.Cause, noun string, n int64, p catalog.Problem, id, title string) models.Attention {
	text := count(n, noun) + " cannot be used: "
	detail := ""
	if c == models.CauseEpisodes {
		text = count(n, noun) + " failed for a reason that may pass: "
		detail = "It is tried again at " + clock(p.RetryAt) + "."
	}
	return models.Attention{Cause: c, Severity: models.Degrades, About: noun, Count: n, Example: id, Since: p.At, Text: text + name(title) + ": " + name(p.Reason), Detail: detail}
}

// index finds that the code index lacks files.
func (w *Watcher) index(context.Context, time.Time) ([]models.Attention, error) {
	if w.Index == nil {
		return nil, nil
	}
	lack, err := w.Index.Lacks()
	if err != nil || len(lack.Repos) == 0 {
		return nil, err
	}
	first, n := lack.Repos[0], int64(len(lack.Repos))
	some := "1 repository"
	if n > 1 {
		some = fmt.Sprintf("%d repositories, such as", n)
	}
	return []models.Attention{{
		Cause: models.CauseIndex, Severity: models.Degrades, About: "index", Count: n, Example: first.ID,
		Text:    fmt.Sprintf("The code index lacks files of %s %s", some, name(first.Repo)),
		Detail:  "Searches do not find these files until the repositories have been visited again.",
		Command: "leasehold origin save-now " + word(first.ID),
		Remedy:  with(remedy("Visit "+name(first.Repo)+" now", "requestVisit"), map[string]string{"origin": first.ID}),
	}}, nil
}

// searchServer finds that the code index waits for its search server.
func (w *Watcher) searchServer(context.Context, time.Time) ([]models.Attention, error) {
	if w.Index == nil {
		return nil, nil
	}
	since, err := w.Index.Waits()
	if err == nil {
		return nil, nil
	}
	return []models.Attention{{
		Cause: models.CauseSearchServer, Severity: models.StopsWork, About: "search server", Count: 1, Since: since,
		Text:   "The code index waits for its search server, which refuses requests or does not answer",
		Detail: err.Error(), Command: "leasehold doctor", Remedy: seen(),
	}}, nil
}

// skipped is the runs that a schedule left out in a row.
type skipped struct {
	last  time.Time // the due time that was left out last
	count int64
	since time.Time
}

// schedules finds the schedules that leave out runs, and counts these.
func (w *Watcher) schedules(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	all, err := (schedule.Client{Repo: w.state.Repo}).List(ctx)
	if err != nil {
		return nil, err
	}
	now := map[string]skipped{}
	for _, s := range all {
		if s.Note == "" || s.Paused() {
			continue
		}
		x, known := w.skips[s.Name]
		if !known {
			x.since = s.Last
		}
		if !known || !x.last.Equal(s.Last) {
			x.last = s.Last
			x.count++
		}
		now[s.Name] = x
		items = append(items, models.Attention{
			Cause: models.CauseRunsLeft, Severity: models.Degrades, About: s.Name, Count: x.count, Example: s.LastTask, Since: x.since,
			Text:    fmt.Sprintf("Schedule %s has left out %s", name(s.Name), count(x.count, "run")),
			Detail:  s.Note,
			Command: "leasehold schedule show " + word(s.Name),
			Remedy:  remedy("Pause "+name(s.Name), "pauseSchedule", "schedule", s.Name),
		})
	}
	for name, x := range w.skips {
		if _, lasts := now[name]; !lasts {
			w.Log.Info("attention: a schedule leaves out no more runs", "schedule", name, "left out", x.count, "since", x.since)
		}
	}
	w.skips = now
	return cut(items), nil
}
