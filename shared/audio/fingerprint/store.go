package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leasehold/shared/fault"
)

const (
	marksSuffix = ".marks"
	soundSuffix = ".pcm"
	partPrefix  = "part-" // of what a killed process left
)

// Store keeps episodes in a folder.
type Store struct {
	dir string
	max int64

	mu sync.Mutex // guards the folder while something is put into its place or evicted
}

// Open makes the folder, if need be, and takes away what a killed process left. The Store
// holds at most max bytes, but always the episode put last.
func Open(dir string, max int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("fingerprint.Open: %w", err)
	}
	parts, err := filepath.Glob(filepath.Join(dir, partPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Open: %w", err)
	}
	for _, p := range parts {
		if err := os.Remove(p); err != nil {
			return nil, fmt.Errorf("fingerprint.Open: %w", err)
		}
	}
	return &Store{dir: dir, max: max}, nil
}

// path of a key's file. Any string is a key.
func (s *Store) path(key, suffix string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+suffix)
}

// Get returns what is kept under a key, such as the hash of the recording; nil if there
// is nothing, or nothing that can be used. The error is the disk's.
func (s *Store) Get(key string) (*Episode, error) {
	marks, err := os.Open(s.path(key, marksSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Get: %w", err)
	}
	e, err := s.open(key, marks)
	if errors.Is(err, fault.ErrCorrupt) {
		return nil, errors.Join(marks.Close(), s.remove(key))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fingerprint.Get: %w", err), marks.Close())
	}
	s.touch(key)
	return e, nil
}

// open opens an episode whose landmarks are in a file, and its sound if it is there.
func (s *Store) open(key string, marks *os.File) (*Episode, error) {
	info, err := marks.Stat()
	if err != nil {
		return nil, err
	}
	e := &Episode{marks: marks}
	if e.Landmarks, err = Decode(marks, info.Size()); err != nil {
		return nil, err
	}
	sound, err := os.Open(s.path(key, soundSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if info, err = sound.Stat(); err == nil && info.Size() != int64(e.Samples)*sampleBytes {
		err = fmt.Errorf("a sound of %d bytes: %w", info.Size(), fault.ErrCorrupt)
	}
	if err != nil {
		return nil, errors.Join(err, sound.Close())
	}
	e.sound = sound
	return e, nil
}

// touch marks an episode as used. A file that was evicted meanwhile is none.
func (s *Store) touch(key string) {
	now := time.Now()
	for _, suffix := range []string{marksSuffix, soundSuffix} {
		_ = os.Chtimes(s.path(key, suffix), now, now)
	}
}

func (s *Store) remove(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, suffix := range []string{marksSuffix, soundSuffix} {
		if err := os.Remove(s.path(key, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Put keeps the episode that fill pushes, mono at 8 kHz, block by block, and returns it.
// What fill returns ends it, and nothing is kept.
func (s *Store) Put(key string, fill func(push func([]float32) error) error) (e *Episode, err error) {
	marks, err := os.CreateTemp(s.dir, partPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	sound, err := os.CreateTemp(s.dir, partPrefix+"*")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fingerprint.Put: %w", err), discard(marks))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(marks), discard(sound))
		}
	}()
	r := newRecorder(marks, sound)
	if err := fill(r.push); err != nil {
		return nil, err
	}
	if err := r.close(); err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	info, err := marks.Stat()
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	if err := s.place(key, marks.Name(), sound.Name()); err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	return &Episode{Landmarks: Landmarks{r.samples, marks, info.Size()}, marks: marks, sound: sound}, nil
}

// discard takes away a file that is not kept. It may be in its place already; then the
// next Get tells what it is worth.
func discard(part *os.File) error {
	_ = os.Remove(part.Name())
	return part.Close()
}

// place puts both files where Get finds them, the landmarks last, and makes room.
func (s *Store) place(key, marks, sound string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(sound, s.path(key, soundSuffix)); err != nil {
		return err
	}
	if err := os.Rename(marks, s.path(key, marksSuffix)); err != nil {
		return err
	}
	return s.evict(s.path(key, ""))
}
