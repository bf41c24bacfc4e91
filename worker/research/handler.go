package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"leasehold/models"
	"leasehold/shared/audio"
	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/fingerprint"
	"leasehold/shared/audio/match"
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

// DefaultGroup is how many clips are looked for at a time: all of a task, as a rule.
const DefaultGroup = 100

// Options of New; the zero value is the default.
type Options struct {
	Match match.Options
	Group int          // clips that are looked for at a time; 0 is DefaultGroup
	Log   *slog.Logger // each clip at debug, each task and what it cost at info; nil is slog.Default()
}

// Handler does the tasks of one action, each call in its own goroutine's time: it
// starts none.
type Handler struct {
	media Media
	store *fingerprint.Store
	opt   Options

	meter meter
}

var _ worker.Handler = (*Handler)(nil)

// New makes a handler that keeps what it learns of episodes in the store.
func New(m Media, store *fingerprint.Store, o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Group < 1 {
		o.Group = DefaultGroup
	}
	return &Handler{media: m, store: store, opt: o}
}

// Handle does one task. It keeps the promises of worker.Handler.
func (h *Handler) Handle(ctx context.Context, job worker.Job) error {
	task := job.Task()
	var r models.Research
	if err := json.Unmarshal(task.Data, &r); err != nil {
		return fmt.Errorf("research task %s: %w: %w", task.ID, fault.ErrInvalid, err)
	}
	h.meter.begin()
	defer h.meter.end()
	a := newAttempt(h, job, r)
	err := a.do(ctx)
	if errors.Is(err, errChanged) { // its hash is known now
		a.rewind()
		err = a.do(ctx)
	}
	return err
}

// load fetches and decodes a clip, and fills in its hash.
func (h *Handler) load(ctx context.Context, ref *models.MediaRef) (samples []float32, err error) {
	err = h.fetch(ctx, ref, func(path string) error {
		samples, err = audio.Load(ctx, path, exact.MaxClip)
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
