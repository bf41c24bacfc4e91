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

	"leasehold/shared/clips/inverted"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

const (
	marksSuffix = ".marks"
	soundSuffix = ".pcm"
	partPrefix  = "part-" // of files being written; a killed process leaves them behind
)

// Store keeps episodes in a folder.
type Store struct {
	dir string
	max int64

	mu sync.Mutex // guards the folder while files are renamed, removed or evicted

	archive archive
}

// Open creates the folder if it does not exist, and removes the unfinished files of a killed
// process. The Store holds at most max bytes, but always keeps the last episode that was put.
func Open(dir string, max int64) (*Store, error) {
	if err := platform.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("fingerprint.Open: %w", err)
	}
	parts, err := platform.Glob(dir, partPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Open: %w", err)
	}
	for _, p := range parts {
		if err := os.Remove(p); err != nil {
			return nil, fmt.Errorf("fingerprint.Open: %w", err)
		}
	}
	return &Store{dir: dir, max: max, archive: archive{open: map[string]*inverted.Segment{}, limit: segmentBytes}}, nil
}

// nameOf returns the name of a key in a segment, and in hexadecimal the name of its files. Any
// string is a valid key, because it is hashed.
func nameOf(key string) [inverted.NameBytes]byte { return sha256.Sum256([]byte(key)) }

// path returns the path of the file of a key.
func (s *Store) path(key, suffix string) string {
	name := nameOf(key)
	return filepath.Join(s.dir, hex.EncodeToString(name[:])+suffix)
}

// Get returns the episode of a key, such as the hash of the recording. It returns nil and no error
// if there is none. If the entry is corrupt, Get removes it and returns nil.
func (s *Store) Get(key string) (*Episode, error) {
	marks, err := platform.OpenShared(s.path(key, marksSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Get: %w", err)
	}
	e, err := openEntry(marks, s.path(key, soundSuffix))
	if errors.Is(err, fault.ErrCorrupt) {
		return nil, errors.Join(marks.Close(), s.remove(key))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fingerprint.Get: %w", err), marks.Close())
	}
	s.touch(key)
	return e, nil
}

// openEntry opens the episode whose landmarks are in marks, and its sound if it is stored at soundPath. After an
// error the caller closes marks.
func openEntry(marks *os.File, soundPath string) (*Episode, error) {
	info, err := marks.Stat()
	if err != nil {
		return nil, err
	}
	e := &Episode{marks: marks}
	if e.Landmarks, err = Decode(marks, info.Size()); err != nil {
		return nil, err
	}
	sound, err := platform.OpenShared(soundPath)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if info, err = sound.Stat(); err == nil && info.Size() != int64(e.Samples)*sampleBytes && info.Size() != int64(e.Samples)*sampleBytes+sumBytes {
		err = fmt.Errorf("a sound of %d bytes: %w", info.Size(), fault.ErrCorrupt)
	}
	if err != nil {
		return nil, errors.Join(err, sound.Close())
	}
	e.sound = sound
	return e, nil
}

// touch marks an episode as used now. It ignores errors, because the files may have been
// evicted meanwhile.
func (s *Store) touch(key string) {
	now := time.Now()
	for _, suffix := range []string{marksSuffix, soundSuffix} {
		_ = os.Chtimes(s.path(key, suffix), now, now)
	}
}

// remove removes the files of a key, if they exist. It tries both, and returns the errors of the
// system.
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

// Broken is the reason why a recording breaks off or is damaged.
type Broken string

func (b Broken) Error() string { return string(b) }

// Put stores an episode and returns it. fill pushes the samples, mono at 8 kHz, in blocks. If
// fill fails with a Broken, the episode is what was pushed, and Get returns it with the reason;
// at another error Put returns it and stores no file.
func (s *Store) Put(key string, fill func(push func([]float32) error) error) (e *Episode, err error) {
	marks, err := platform.CreateShared(s.dir, partPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	sound, err := platform.CreateShared(s.dir, partPrefix+"*")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fingerprint.Put: %w", err), discard(marks))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(marks), discard(sound))
		}
	}()
	r := newRecorder(marks, sound)
	var broken Broken
	if err := fill(r.push); err != nil && !errors.As(err, &broken) {
		return nil, err
	}
	landmarks, err := r.close(string(broken[:min(len(broken), maxReason)]))
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	if err := s.place(key, marks.Name(), sound.Name()); err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	if err := s.grow(landmarks.size); err != nil {
		return nil, fmt.Errorf("fingerprint.Put: %w", err)
	}
	return &Episode{Landmarks: landmarks, marks: marks, sound: sound}, nil
}

// PutLandmarks stores the landmarks of an episode without its sound, and does not evict. fill
// adds them in the order of time. After an error nothing is stored, unless the error is of
// building a segment.
func (s *Store) PutLandmarks(key string, samples int, fill func(add func(landmark.Landmark))) error {
	marks, err := platform.CreateShared(s.dir, partPrefix+"*")
	if err != nil {
		return fmt.Errorf("fingerprint.PutLandmarks: %w", err)
	}
	code := newEncoder(marks)
	fill(code.add)
	size, err := code.finish(samples, "")
	if err = errors.Join(err, marks.Close()); err != nil {
		return errors.Join(fmt.Errorf("fingerprint.PutLandmarks: %w", err), os.Remove(marks.Name()))
	}
	if err := s.rename(marks.Name(), s.path(key, marksSuffix)); err != nil {
		return fmt.Errorf("fingerprint.PutLandmarks: %w", err)
	}
	return s.grow(size)
}

// rename renames a file under mu, because evict must not remove it meanwhile.
func (s *Store) rename(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return os.Rename(from, to)
}

// discard closes and removes an unfinished file. It ignores the error of the removal, because
// place may have renamed the file already; then the next Get checks the file.
func discard(part *os.File) error {
	_ = os.Remove(part.Name())
	return part.Close()
}

// place renames both files to the names that Get opens, and evicts older ones. It renames the
// landmarks last, because Get looks for them first. After an error the sound may be there without
// landmarks; Get then returns nothing.
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
