package clips

import (
	"context"
	"errors"
	"time"

	"leasehold/models"
	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/protocol/lease"
	"leasehold/worker"
)

// A result of a sweep has at most reportEpisodes episodes, and is put once it has reportFindings
// findings.
const (
	reportEpisodes = 100
	reportFindings = 500
)

// errDraining ends a sweep because the worker drains.
var errDraining = errors.New("the worker drains")

// sweep is one run of a task with one clip and many episodes.
type sweep struct {
	handler  *Handler
	job      worker.Job
	task     models.Research
	clip     models.MediaRef // with its hash, once it is fetched
	index    *index.Index
	samples  int          // of the clip
	result   models.Swept // of the episodes that are not reported yet
	parts    []string     // the episodes of result
	searched int          // episodes
	windows  int          // of sound, that were read
}

// sweep searches all episodes of a task that the store knows, in one query of its index. The others,
// and those whose sound is needed and cannot be read, are left out of the results, so that the
// manager selects them again. So are all if the clip needs plain correlation, because then all sound
// of each episode is searched, and a sweep gains nothing. Less tells the manager that most episodes
// were left out. A clip that cannot be searched resolves the task with a problem; any other error, of
// loading, of searchKnown or of Resolve, has the worker release it.
func (h *Handler) sweep(ctx context.Context, job worker.Job, r models.Research) error {
	began := time.Now()
	s := &sweep{handler: h, job: job, task: r, clip: r.Clips[0].Media}
	s.reset()
	if err := s.loadClip(ctx); err != nil {
		err = passOn(ctx, job, err)
		retry, known := retryOf(err)
		if ctx.Err() != nil || !known {
			return ignoreResolved(err)
		}
		s.addEpisode(r.Episodes[0])
		s.result.Problem, s.result.Retry, s.result.RetryAfter = describeFault(r.Clips[0], err), retry, waitOf(err)
		return s.resolve(ctx)
	}
	if !s.index.Plain(0) {
		if err := s.searchKnown(ctx); err != nil {
			return err
		}
	}
	s.result.Less = !s.draining() && 2*s.searched < len(r.Episodes)
	s.reportCost(ctx, time.Since(began))
	return s.resolve(ctx)
}

// loadClip loads the clip, checks it, and makes its index. The result has the hash of the clip also after an
// error.
func (s *sweep) loadClip(ctx context.Context) error {
	wave, err := s.handler.loadSamples(ctx, &s.clip)
	s.result.ClipMedia = s.clip
	if err == nil {
		err = exact.Check(wave)
	}
	if err != nil {
		return err
	}
	var b index.Builder
	if err := b.Add(s.task.Clips[0].ID, wave); err != nil {
		return err
	}
	s.samples = len(wave)
	s.index, err = b.Build()
	return err
}

// searchKnown calls searchEpisode for each episode of the task that the store knows. It returns nil early if the
// worker drains. A damaged part of the store is logged; its episodes are left out.
func (s *sweep) searchKnown(ctx context.Context) error {
	keys := make([]string, len(s.task.Episodes))
	for i, e := range s.task.Episodes {
		keys[i] = e.Media.Hash
	}
	damaged := func(err error) {
		s.handler.opt.Log.WarnContext(ctx, "research: a part of the cache is damaged", "error", err)
	}
	// The first result, the episodes that the store does not know, are not in the report: the manager
	// selects them again.
	_, err := s.handler.store.Search(keys, s.index.Hashes(), damaged, func(i int, k fingerprint.Known) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s.draining() {
			return errDraining
		}
		return s.searchEpisode(ctx, s.task.Episodes[i], k)
	})
	if errors.Is(err, errDraining) {
		return nil
	}
	return err
}

// searchEpisode searches one episode, adds it to the result, and reports the result once it has reportEpisodes or
// reportFindings. An episode whose sound cannot be read is left out with its findings, so that the manager
// selects it again; that is not an error. A clip longer than the episode is a problem of the pair, unless the
// episode breaks off: then it may have been played where nothing can be read.
func (s *sweep) searchEpisode(ctx context.Context, item models.ResearchItem, k fingerprint.Known) error {
	before := len(s.result.Findings)
	switch {
	case s.samples > k.Samples && k.Broken:
	case s.samples > k.Samples:
		s.result.Problems[item.ID] = describeFault(s.task.Clips[0], exact.ErrLongerThanEpisode)
	default:
		sound := &sound{ctx: ctx, handler: s.handler, ref: item.Media}
		err := match.FindKnown(ctx, s.index, match.Known{Samples: k.Samples, Landmarks: k.Landmarks, Sound: sound}, s.handler.opt.Match, func(f match.Finding) error {
			s.result.Findings = append(s.result.Findings, finding(item.ID, s.task.Clips[0].ID, f))
			return nil
		})
		s.windows += sound.windows
		err = errors.Join(err, sound.close())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.result.Findings = s.result.Findings[:before]
			s.handler.opt.Log.InfoContext(ctx, "research: an episode is left to a task of its own", "episode", item.ID, "error", err)
			return nil
		}
	}
	s.addEpisode(item)
	s.searched++
	if len(s.parts) < reportEpisodes && len(s.result.Findings) < reportFindings {
		return nil
	}
	err := s.job.Report(ctx, lease.JoinParts(s.parts), s.result)
	s.reset()
	return err
}

// addEpisode adds an episode to the result.
func (s *sweep) addEpisode(item models.ResearchItem) {
	s.result.Episodes[item.ID] = item.Media
	s.parts = append(s.parts, item.ID)
}

// reset starts a new result.
func (s *sweep) reset() {
	s.result = models.Swept{
		Clip: s.task.Clips[0].ID, ClipMedia: s.clip, Episodes: map[string]models.MediaRef{}, Problems: map[string]string{},
	}
	s.parts = nil
}

// resolve puts the last result, and ends the task. A result must name a part; without any episode left it names
// the first one, which is not in Episodes, so that nothing changes for it.
func (s *sweep) resolve(ctx context.Context) error {
	if len(s.parts) == 0 {
		s.parts = []string{s.task.Episodes[0].ID}
	}
	return s.job.Resolve(ctx, lease.JoinParts(s.parts), s.result)
}

// draining reports whether the worker drains.
func (s *sweep) draining() bool {
	select {
	case <-s.job.Draining():
		return true
	default:
		return false
	}
}

// reportCost adds the costs of the sweep to those of its action, and logs them. Each episode
// counts.
func (s *sweep) reportCost(ctx context.Context, took time.Duration) {
	c := models.Cost{
		How: models.ResearchKnown, Tasks: int64(s.searched), Wall: models.SecondsOf(took), CPU: models.SecondsOf(s.handler.meter.share()), Windows: int64(s.windows),
	}
	s.handler.opt.Log.InfoContext(ctx, "research", "how", c.How, "clip", s.task.Clips[0].ID, "episodes", s.searched, "of", len(s.task.Episodes),
		"searched", took, "cpu", c.CPU.Duration(), "windows", c.Windows)
	if err := s.job.Spend(ctx, c); err != nil { // the costs are for people; the task itself succeeds
		s.handler.opt.Log.WarnContext(ctx, "research: its cost is not counted", "error", err)
	}
}

// sound is the sound of an episode of a sweep, opened when it is first read.
type sound struct {
	ctx     context.Context
	handler *Handler
	ref     models.MediaRef
	episode *episode
	windows int
}

// ReadAt reads sound at an offset in samples (verify.Source). The first call opens the episode. It fails with
// errChanged if the recording has other content than the index of the store.
func (s *sound) ReadAt(dst []float32, offset int) error {
	s.windows++
	if s.episode == nil {
		hash := s.ref.Hash
		e, err := s.handler.openEpisode(s.ctx, &s.ref)
		if err != nil {
			return err
		}
		s.episode = e
		if s.ref.Hash != hash {
			return errChanged
		}
	}
	return s.episode.ReadAt(dst, offset)
}

func (s *sound) close() error {
	if s.episode == nil {
		return nil
	}
	return s.episode.Close()
}
