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
)

const (
	peaksSuffix = ".peaks"
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
	entry, err := os.ReadFile(s.path(key, peaksSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Get: %w", err)
	}
	peaks, err := Decode(entry)
	if err != nil {
		return nil, s.remove(key)
	}
	e := &Episode{Peaks: peaks}
	sound, err := os.Open(s.path(key, soundSuffix))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("fingerprint.Get: %w", err)
	default:
		info, err := sound.Stat()
		if err != nil || info.Size() != int64(peaks.Samples)*sampleBytes {
			return nil, errors.Join(err, sound.Close(), s.remove(key))
		}
		e.sound = sound
	}
	s.touch(key)
	return e, nil
}

// touch marks an episode as used. A file that was evicted meanwhile is none.
func (s *Store) touch(key string) {
	now := time.Now()
	for _, suffix := range []string{peaksSuffix, soundSuffix} {
		_ = os.Chtimes(s.path(key, suffix), now, now)
	}
}

func (s *Store) remove(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, suffix := range []string{peaksSuffix, soundSuffix} {
		if err := os.Remove(s.path(key, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Put keeps the episode that fill pushes, mono at 8 kHz, block by block, and returns it.
// What fill returns ends it, and nothing is kept.
func (s *Store) Put(key string, fill func(push func([]float32) error) error) (e *Episode, err error) {
	sound, err := os.CreateTemp(s.dir, partPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	part := sound.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, sound.Close())
			_ = os.Remove(part) // it may be in its place already; then the next Get tells
		}
	}()
	r := newRecorder(sound)
	if err := fill(r.push); err != nil {
		return nil, err
	}
	entry, err := r.close()
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	peaks, err := Decode(entry)
	if err != nil {
		return nil, err
	}
	if err := s.place(key, part, entry); err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	return &Episode{Peaks: peaks, sound: sound}, nil
}

// place puts both files where Get finds them, the peaks last, and makes room.
func (s *Store) place(key, part string, entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(part, s.path(key, soundSuffix)); err != nil {
		return err
	}
	if err := os.WriteFile(part, entry, 0o600); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, s.path(key, peaksSuffix)); err != nil {
		return err
	}
	return s.evict(s.path(key, ""))
}
