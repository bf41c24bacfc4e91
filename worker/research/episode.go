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

// episode is what is known of one: its landmarks, and its sound, which is fetched only when
// it is neither kept nor avoidable.
type episode struct {
	*fingerprint.Episode
	before  *fingerprint.Episode // without its sound, but its landmarks may still be read
	ctx     context.Context
	h       *Handler
	ref     *models.MediaRef
	windows int // that were read
	// known says that all that was asked of it was kept before.
	known bool
}

// open takes the episode from the store, or fetches and decodes it, and fills in its
// hash. The caller closes it.
func (h *Handler) open(ctx context.Context, ref *models.MediaRef) (*episode, error) {
	e := &episode{ctx: ctx, h: h, ref: ref}
	var err error
	if ref.Hash != "" {
		e.Episode, err = h.store.Get(ref.Hash)
		if e.known = e.Episode != nil; err != nil || e.known {
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
		if e != nil {
			if err := e.Close(); err != nil {
				return err
			}
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
	e.windows++
	if !e.HasSound() {
		if err := e.again(); err != nil {
			return err
		}
	}
	return e.Episode.ReadAt(dst, offset)
}

// again gets a sound that the store has let go.
func (e *episode) again() error {
	e.known = false
	hash := e.ref.Hash
	whole, err := e.h.make(e.ctx, e.ref)
	if err != nil {
		return err
	}
	if e.ref.Hash != hash {
		return errors.Join(fmt.Errorf("%s: %w", e.ref.URI, errChanged), whole.Close())
	}
	e.before, e.Episode = e.Episode, whole
	return nil
}

// Close gives the files back.
func (e *episode) Close() error {
	err := e.Episode.Close()
	if e.before != nil {
		err = errors.Join(err, e.before.Close())
	}
	return err
}
