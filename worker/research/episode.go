package research

import (
	"context"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/audio"
	"leasehold/shared/audio/fingerprint"
)

// errChanged says that a recording is no longer what its hash says.
var errChanged = errors.New("the recording changed")

// episode is what is known of one: its peaks, and its sound, which is fetched only when
// it is neither kept nor avoidable.
type episode struct {
	*fingerprint.Episode
	ctx context.Context
	h   *Handler
	ref *models.MediaRef
}

// open takes the episode from the store, or fetches and decodes it, and fills in its
// hash. The caller closes it.
func (h *Handler) open(ctx context.Context, ref *models.MediaRef) (*episode, error) {
	e := &episode{ctx: ctx, h: h, ref: ref}
	var err error
	if ref.Hash != "" {
		if e.Episode, err = h.store.Get(ref.Hash); err != nil || e.Episode != nil {
			return e, err
		}
	}
	e.Episode, err = h.make(ctx, ref)
	return e, err
}

// make fetches an episode, and keeps what there is to keep.
func (h *Handler) make(ctx context.Context, ref *models.MediaRef) (e *fingerprint.Episode, err error) {
	err = h.fetch(ctx, ref, func(path string) error {
		if e, err = h.store.Get(ref.Hash); err != nil || e != nil && e.HasSound() {
			return err
		}
		e, err = h.store.Put(ref.Hash, func(push func([]float32) error) error {
			return audio.Each(ctx, path, push)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ReadAt implements verify.Source.
func (e *episode) ReadAt(dst []float32, offset int) error {
	if !e.HasSound() {
		if err := e.again(); err != nil {
			return err
		}
	}
	return e.Episode.ReadAt(dst, offset)
}

// again gets a sound that the store has let go.
func (e *episode) again() error {
	hash := e.ref.Hash
	whole, err := e.h.make(e.ctx, e.ref)
	if err != nil {
		return err
	}
	if e.ref.Hash != hash {
		return errors.Join(fmt.Errorf("%s: %w", e.ref.URI, errChanged), whole.Close())
	}
	e.Episode = whole // the one before held no file
	return nil
}
