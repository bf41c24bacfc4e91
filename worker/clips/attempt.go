package clips

import (
	"context"
	"errors"
	"maps"
	"slices"

	"leasehold/models"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/match"
	"leasehold/shared/process/failpoint"
	"leasehold/worker"
)

// errResolved is the error of putResult after it has resolved the task, and of passOn after it has given
// the task away. It ends the search and is not a failure.
var errResolved = errors.New("resolved")

// attempt is one run of a task.
type attempt struct {
	handler *Handler
	job     worker.Job
	task    models.Research
	episode models.MediaRef   // with its hash, once it is fetched
	media   []models.MediaRef // of the clips, likewise
	next    int               // index of the next clip
	passing error             // the first fault that may pass, of a clip
	agreed  bool              // no other worker has the clips that are missing here
	broken  string            // why the episode breaks off, until a result has reported it
	// waveform is that of the episode, until a result has it; nil: the task does not ask for it.
	waveform *models.Waveform
}

// newAttempt returns an attempt that has searched for no clip yet. It copies the media, because
// fetching sets their hashes.
func newAttempt(h *Handler, job worker.Job, r models.Research) *attempt {
	a := &attempt{handler: h, job: job, task: r, episode: r.Episode.Media}
	for _, c := range r.Clips {
		a.media = append(a.media, c.Media)
	}
	return a
}

// newResult returns an empty result of the clips with these indexes.
func (a *attempt) newResult(clips ...int) models.Researched {
	r := models.Researched{Episode: a.task.Episode.ID, EpisodeMedia: a.episode, ClipMedia: map[string]models.MediaRef{}}
	for _, i := range clips {
		r.ClipMedia[a.task.Clips[i].ID] = a.media[i]
	}
	r.Clips = slices.Sorted(maps.Keys(r.ClipMedia))
	return r
}

// failEpisode resolves the task with a problem for all clips if err comes from the episode: then the
// catalog decides when it is tried again. Otherwise it returns err, so that the worker gives the task
// back. The error of Resolve is returned too.
func (a *attempt) failEpisode(ctx context.Context, err error) error {
	err = passOn(ctx, a.job, err)
	retry, known := retryOf(err)
	if ctx.Err() != nil || !known {
		return ignoreResolved(err)
	}
	all := make([]int, len(a.task.Clips))
	for i := range all {
		all[i] = i
	}
	r := a.newResult(all...)
	r.Problem, r.Scope, r.Retry, r.RetryAfter = describeFault(a.task.Episode, err), models.ScopeEpisode, retry, waitOf(err)
	return a.job.Resolve(ctx, a.task.Episode.ID, r)
}

// putResult puts the result of the clip a.next, and moves to the next one. It resolves the task, and
// returns errResolved, with the last clip, or if the worker drains and a group has ended. An error of
// the clip that may pass is kept until the other clips have been reported, and returned then: it
// makes the worker release the task, and a resolved task could not be tried again. Errors of Report
// and Resolve are returned at once.
func (a *attempt) putResult(ctx context.Context, o outcome) error {
	i := a.next
	a.next++
	item := a.task.Clips[i]
	a.handler.opt.Log.DebugContext(ctx, "researched", "episode", a.task.Episode.ID, "clip", item.ID, "findings", len(o.findings), "err", o.err)
	last := a.next == len(a.task.Clips) || o.last && a.draining()
	if _, known := retryOf(o.err); o.err != nil && !known {
		if a.passing == nil {
			a.passing = o.err
		}
		if last {
			return a.passing
		}
		return nil
	}
	r := a.makeResult(i, o)
	if !last || a.passing != nil { // with a.passing the task is not resolved
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

// makeResult returns the result of clip i. The first result has the waveform, and the first one without a problem of its
// clip reports why the episode breaks off, if it does.
func (a *attempt) makeResult(i int, o outcome) models.Researched {
	item := a.task.Clips[i]
	r := a.newResult(i)
	r.Waveform, a.waveform = a.waveform, nil
	switch {
	case o.err != nil:
		r.Problem, r.Scope, r.RetryAfter = describeFault(item, o.err), scopeOf(o.err), waitOf(o.err)
		r.Retry, _ = retryOf(o.err)
	case a.broken != "":
		r.Problem, r.Scope = describeFault(a.task.Episode, fingerprint.Broken(a.broken)), models.ScopePart
		a.broken = "" // once is enough for the catalog
	}
	for _, f := range o.findings {
		r.Findings = append(r.Findings, finding(r.Episode, item.ID, f))
	}
	return r
}

// finding returns a finding of a search as the catalog has it.
func finding(episode, clip string, f match.Finding) models.Finding {
	from, to := f.Part()
	return models.Finding{Episode: episode, Clip: clip, Occurrence: models.Occurrence{
		Offset: models.SecondsOf(f.Start()), Duration: models.SecondsOf(f.Duration()),
		PartFrom: models.SecondsOf(from), PartTo: models.SecondsOf(to),
		Score: f.Score, Coverage: f.Coverage, Speed: f.Speed,
	}}
}

// draw draws the waveform if the task asks for it and the sound is stored. An error is logged only, because the task
// succeeds without a picture.
func (a *attempt) draw(ctx context.Context, e *episode) {
	if !a.task.Waveform || !e.HasSound() || e.Samples == 0 {
		return
	}
	peaks, err := e.Peaks(models.MaxPeaks)
	if err != nil {
		a.handler.opt.Log.WarnContext(ctx, "research: the waveform is left out", "episode", a.task.Episode.ID, "error", err)
		return
	}
	a.waveform = &models.Waveform{Duration: models.Seconds(float64(e.Samples) / match.RateHz), Peaks: peaks}
}

// draining reports whether the worker drains.
func (a *attempt) draining() bool {
	select {
	case <-a.job.Draining():
		return true
	default:
		return false
	}
}
