package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"leasehold/models"
	"leasehold/shared/audio"
	"leasehold/shared/audio/match"
	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/worker"
)

// Media brings recordings to this machine. Errors of the kinds fault.ErrInvalid,
// ErrTooLarge, ErrNotFound and ErrCorrupt are properties of the recording; all
// others may pass. It is called by several goroutines at once.
type Media interface {
	Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error)
}

// Options of New; the zero value is the default.
type Options struct {
	Dir   string // of the spools; "" is the system's folder for temporary files
	Match match.Options
	Log   *slog.Logger // progress, at debug; nil is slog.Default()
}

// Handler does the tasks of one action, each call in its own goroutine's time: it
// starts none.
type Handler struct {
	media Media
	opt   Options
}

var _ worker.Handler = (*Handler)(nil)

// New makes a handler.
func New(m Media, o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Handler{media: m, opt: o}
}

// Handle does one task. It keeps the promises of worker.Handler.
func (h *Handler) Handle(ctx context.Context, job worker.Job) error {
	task := job.Task()
	var r models.Research
	if err := json.Unmarshal(task.Data, &r); err != nil {
		return fmt.Errorf("research task %s: %w: %w", task.ID, fault.ErrInvalid, err)
	}
	a := newAttempt(h, job, r)
	failpoint.Reached("research.fetch", "")
	episode, err := h.spool(ctx, &a.episode)
	if err != nil {
		return a.episodeFails(ctx, err)
	}
	defer func() { _ = episode.Close() }() // it is read-only by now, and nameless
	if len(r.Clips) == 0 {
		return job.Resolve(ctx, r.Episode.ID, a.result())
	}
	h.opt.Log.DebugContext(ctx, "research", "task", task.ID, "episode", r.Episode.ID, "lasts", episode.Duration(), "clips", len(r.Clips))
	failpoint.Reached("research.run", "")
	err = match.Find(ctx, episode, a.clips(), h.opt.Match, func(m match.Result) error { return a.found(ctx, m) })
	if errors.Is(err, errResolved) {
		return nil
	}
	return err
}

// spool fetches and decodes the episode, and fills in its hash.
func (h *Handler) spool(ctx context.Context, ref *models.MediaRef) (r *audio.Recording, err error) {
	err = h.fetch(ctx, ref, func(path string) error {
		r, err = audio.Spool(ctx, path, h.opt.Dir)
		return err
	})
	return r, err
}

// load does the same for a clip.
func (h *Handler) load(ctx context.Context, ref *models.MediaRef) (samples []float32, err error) {
	err = h.fetch(ctx, ref, func(path string) error {
		samples, err = audio.Load(ctx, path, match.MaxClip)
		return err
	})
	return samples, err
}

func (h *Handler) fetch(ctx context.Context, ref *models.MediaRef, use func(path string) error) error {
	f, err := h.media.Fetch(ctx, *ref)
	if err != nil {
		return err
	}
	ref.Hash = f.Hash
	err = use(f.Path)
	return errors.Join(err, f.Close())
}
