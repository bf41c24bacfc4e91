package clips

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/fault"
	"leasehold/worker"
)

// errChanged means that a recording no longer has the content of its hash.
var errChanged = errors.New("the recording changed")

// episode has the landmarks and the sound of an episode. The sound is fetched only if it
// is needed and not in the store.
type episode struct {
	*fingerprint.Episode
	before  *fingerprint.Episode // nil, or the one before fetchSound: its landmarks are still read
	ctx     context.Context
	handler *Handler
	ref     *models.MediaRef
	windows int  // of sound, that were read
	known   bool // the store had everything that was read so far
}

// openEpisode reads the episode from the store or, if the store does not have it or ref.Hash is empty, fetches
// and decodes it, and sets ref.Hash. Without an error the caller closes the episode.
func (h *Handler) openEpisode(ctx context.Context, ref *models.MediaRef) (*episode, error) {
	e := &episode{ctx: ctx, handler: h, ref: ref}
	var err error
	if ref.Hash != "" {
		e.Episode, err = h.store.Get(ref.Hash)
		if e.known = e.Episode != nil; err != nil || e.known {
			return e, unableToKeep(err)
		}
	}
	e.Episode, err = h.fetchEpisode(ctx, ref)
	return e, err
}

// fetchEpisode fetches an episode, sets ref.Hash, and returns it with its sound. If the store has the content
// with its sound already, it is not decoded again; if it has it without the sound, Put adds that. The caller
// closes the episode.
func (h *Handler) fetchEpisode(ctx context.Context, ref *models.MediaRef) (e *fingerprint.Episode, err error) {
	err = h.fetchFile(ctx, ref, func(path string) error {
		if e, err = h.store.Get(ref.Hash); err != nil || e != nil && e.HasSound() {
			return unableToKeep(err)
		}
		if e != nil {
			if err := e.Close(); err != nil {
				return err
			}
		}
		var decoding error
		e, err = h.store.Put(ref.Hash, func(push func([]float32) error) error {
			decoding = decodeEpisode(ctx, path, push)
			return decoding
		})
		if decoding == nil {
			err = unableToKeep(err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// unableToKeep returns an error of the store, in which this worker keeps episodes, as one of its machine.
func unableToKeep(err error) error {
	if err == nil {
		return nil
	}
	return worker.Unable(fmt.Errorf("keep the fingerprint: %w", err))
}

// decodeEpisode pushes the sound of an episode. If the recording breaks off or is damaged after some sound, or has
// more tracks than the one that is searched, the error is a fingerprint.Broken, so that the sound is kept.
func decodeEpisode(ctx context.Context, path string, push func([]float32) error) error {
	pushed, note := 0, ""
	err := clips.EachNoted(ctx, path, &note, func(block []float32) error {
		pushed += len(block)
		return push(block)
	})
	if pushed > 0 && errors.Is(err, fault.ErrCorrupt) {
		end := models.SecondsOf(time.Duration(pushed) * (time.Second / clips.RateHz))
		return fingerprint.Broken(fmt.Sprintf("%v; searched up to %s", err, end.Clock()))
	}
	if err == nil && note != "" {
		return fingerprint.Broken(note)
	}
	return err
}

// ReadAt reads sound at an offset in samples (verify.Source). If the store has evicted the sound, it is fetched
// again. It fails with errChanged if the recording has other content by now.
func (e *episode) ReadAt(dst []float32, offset int) error {
	e.windows++
	if !e.HasSound() {
		if err := e.fetchSound(); err != nil {
			return err
		}
	}
	return e.Episode.ReadAt(dst, offset)
}

func (e *episode) fetchSound() error {
	e.known = false
	hash := e.ref.Hash
	whole, err := e.handler.fetchEpisode(e.ctx, e.ref)
	if err != nil {
		return err
	}
	if e.ref.Hash != hash {
		return errors.Join(fmt.Errorf("%s: %w", e.ref.URI, errChanged), whole.Close())
	}
	e.before, e.Episode = e.Episode, whole
	return nil
}

// Close closes the files, also the second after an error of the first, and returns all errors.
func (e *episode) Close() error {
	err := e.Episode.Close()
	if e.before != nil {
		err = errors.Join(err, e.before.Close())
	}
	return err
}
