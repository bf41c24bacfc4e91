package research

import (
	"context"
	"errors"
	"maps"
	"slices"

	"leasehold/models"
	"leasehold/shared/audio/fingerprint"
	"leasehold/shared/audio/match"
	"leasehold/shared/failpoint"
	"leasehold/worker"
)

// errResolved ends the search after the last result was put.
var errResolved = errors.New("resolved")

// attempt is one run of a task.
type attempt struct {
	h       *Handler
	job     worker.Job
	task    models.Research
	episode models.MediaRef   // with its hash, once it is fetched
	media   []models.MediaRef // of the clips, likewise
	next    int               // index of the next clip
	passing error             // the first fault that may pass, of a clip
	broken  string            // why the episode breaks off, until a result has reported it
}

func newAttempt(h *Handler, job worker.Job, r models.Research) *attempt {
	a := &attempt{h: h, job: job, task: r, episode: r.Episode.Media}
	for _, c := range r.Clips {
		a.media = append(a.media, c.Media)
	}
	return a
}

// result returns an empty result of the clips with these indexes.
func (a *attempt) result(clips ...int) models.Researched {
	r := models.Researched{Episode: a.task.Episode.ID, EpisodeMedia: a.episode, ClipMedia: map[string]models.MediaRef{}}
	for _, i := range clips {
		r.ClipMedia[a.task.Clips[i].ID] = a.media[i]
	}
	r.Clips = slices.Sorted(maps.Keys(r.ClipMedia))
	return r
}

// episodeFails ends the task with a problem for all clips if the episode is at fault,
// and else with the error.
func (a *attempt) episodeFails(ctx context.Context, err error) error {
	if ctx.Err() != nil || !lasting(err) {
		return err
	}
	all := make([]int, len(a.task.Clips))
	for i := range all {
		all[i] = i
	}
	r := a.result(all...)
	r.Problem, r.Scope = problem(a.task.Episode, err), models.ScopeEpisode
	return a.job.Resolve(ctx, a.task.Episode.ID, r)
}

// found puts the result of the next clip, and decides whether it is the last one. An
// error that may pass is kept until the other clips have been reported, because it makes
// the worker release the task.
func (a *attempt) found(ctx context.Context, o outcome) error {
	i := a.next
	a.next++
	item := a.task.Clips[i]
	a.h.opt.Log.DebugContext(ctx, "researched", "episode", a.task.Episode.ID, "clip", item.ID, "findings", len(o.findings), "err", o.err)
	last := a.next == len(a.task.Clips) || o.last && a.draining()
	if o.err != nil && !lasting(o.err) {
		if a.passing == nil {
			a.passing = o.err
		}
		if last {
			return a.passing
		}
		return nil
	}
	r := a.result(i)
	switch {
	case o.err != nil:
		r.Problem, r.Scope = problem(item, o.err), scope(o.err)
	case a.broken != "":
		r.Problem, r.Scope = problem(a.task.Episode, fingerprint.Broken(a.broken)), models.ScopePart
		a.broken = "" // once is enough for the catalog
	}
	for _, f := range o.findings {
		r.Findings = append(r.Findings, finding(r.Episode, item.ID, f))
	}
	if !last || a.passing != nil {
		failpoint.Reached("research.report", "")
		if err := a.job.Report(ctx, item.ID, r); err != nil || !last {
			return err
		}
		return a.passing
	}
	failpoint.Reached("research.final", "")
	if err := a.job.Resolve(ctx, item.ID, r); err != nil {
		return err
	}
	return errResolved
}

func finding(episode, clip string, f match.Finding) models.Finding {
	from, to := f.Part()
	return models.Finding{Episode: episode, Clip: clip, Occurrence: models.Occurrence{
		Offset: models.SecondsOf(f.Start()), Duration: models.SecondsOf(f.Duration()),
		PartFrom: models.SecondsOf(from), PartTo: models.SecondsOf(to),
		Score: f.Score, Coverage: f.Coverage, Speed: f.Speed,
	}}
}

func (a *attempt) draining() bool {
	select {
	case <-a.job.Draining():
		return true
	default:
		return false
	}
}
