package clips

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/match"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/worker"
)

// Media fetches recordings to this machine. Its errors are those of fetch.Fetcher.Fetch; they can
// pass unless fetch.Refused. Several goroutines call it at once.
type Media interface {
	Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error)
}

// defaultGroup is how many clips are searched for at a time, usually all of a task.
const defaultGroup = 100

// Options of New; the zero value is the default.
type Options struct {
	Match match.Options
	Group int          // clips that are searched for at a time; 0: 100
	Log   *slog.Logger // each clip at debug, each task with its cost at info; nil: slog.Default()
}

// Handler does tasks of research. It starts no goroutines.
type Handler struct {
	media Media
	store *fingerprint.Store
	opt   Options

	meter meter
}

var _ worker.Handler = (*Handler)(nil)

// New returns a handler that keeps the landmarks and sound of episodes in store.
func New(m Media, store *fingerprint.Store, o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Group < 1 {
		o.Group = defaultGroup
	}
	return &Handler{media: m, store: store, opt: o}
}

// Handle does one task, as worker.Handler requires. A task whose data is not JSON fails for good.
func (h *Handler) Handle(ctx context.Context, job worker.Job) error {
	return worker.HandleParts(h.research).Handle(ctx, job)
}

// research does a task: a sweep if its data has one clip and several episodes, otherwise the
// search of one episode for its clips. If the recording changed while it was searched
// (errChanged), it runs once more with the new content, whose hash a.episode has then. Data
// without an episode is given up, because no worker can do it. Other errors have the worker
// release the task.
func (h *Handler) research(ctx context.Context, t worker.Task[models.Research]) error {
	isSweep := len(t.Data.Episodes) > 0 && len(t.Data.Clips) == 1
	if t.Data.Episode.Media.URI == "" && !isSweep {
		return worker.GiveUp(fmt.Errorf(`research task %s: its data has no episode: want {"episode": {"id", "title", "media": {"uri"}}, "clips": […]}: %w`, t.Task().ID, fault.ErrInvalid))
	}
	h.meter.begin()
	defer h.meter.end()
	if isSweep {
		return h.sweep(ctx, t.Job, t.Data)
	}
	a := newAttempt(h, t.Job, t.Data)
	err := a.searchAll(ctx)
	if errors.Is(err, errChanged) {
		a.rewind()
		err = a.searchAll(ctx)
	}
	return err
}

// loadSamples fetches and decodes a clip of at most exact.MaxClip, and sets ref.Hash.
func (h *Handler) loadSamples(ctx context.Context, ref *models.MediaRef) (samples []float32, err error) {
	err = h.fetchFile(ctx, ref, func(path string) error {
		samples, err = clips.Load(ctx, path, exact.MaxClip)
		return err
	})
	return samples, err
}

// fetchFile fetches a recording, sets ref.Hash to the hash of its content, and calls use with its path. The file
// may be removed after use has returned.
func (h *Handler) fetchFile(ctx context.Context, ref *models.MediaRef, use func(path string) error) error {
	f, err := h.media.Fetch(ctx, *ref)
	if err != nil && ctx.Err() == nil {
		return &unfetched{err, strings.HasPrefix(ref.URI, "file:")}
	}
	if err != nil {
		return err
	}
	ref.Hash = f.Hash
	err = use(f.Path)
	return errors.Join(err, f.Close())
}
