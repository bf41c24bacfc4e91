package clips

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/cliplint"
	"leasehold/shared/clips/exact"
)

// compareLimit is how many clips of a folder are compared with each other. It bounds
// the memory for the comparison to about 120 MB.
const compareLimit = 2000

// clipChecker checks the clips of folders. It caches its report of a folder until a clip
// changes, because a check decodes all clips. Its methods may be called concurrently.
type clipChecker struct {
	mu    sync.Mutex              // guards known
	known map[string]cachedReport // by origin
}

// cachedReport is the report on the clips with that digest.
type cachedReport struct {
	digest  [sha256.Size]byte
	notices []cliplint.Notice
}

// checkClips adds a problem for each clip that a search would not find or would find twice, and returns the clips
// without those that cannot be searched for at all. Only the first compareLimit clips are compared.
func (v *folderVisit) checkClips(ctx context.Context, checker *clipChecker, clips []models.Clip) ([]models.Clip, error) {
	if len(clips) > compareLimit {
		v.problems.add("", "only the first %d clips were compared with each other", compareLimit)
	}
	notices, err := checker.notices(ctx, v, clips[:min(compareLimit, len(clips))])
	if err != nil {
		return nil, err
	}
	lost := map[string]bool{}
	for _, n := range notices {
		v.problems.add(sanitize(n.Clip), "%s", n.Text())
		lost[n.Clip] = n.Fault.Lost()
	}
	return slices.DeleteFunc(clips, func(c models.Clip) bool { return lost[c.Name] }), nil
}

// notices returns the notices of package cliplint about the clips of v's folder, except two kinds: workers report
// clips that cannot be decoded, because they may have a decoder that this machine lacks, and the catalog reports
// equal files. It keeps them per origin, and checks again when a clip has another version.
func (checker *clipChecker) notices(ctx context.Context, v *folderVisit, clips []models.Clip) ([]cliplint.Notice, error) {
	digest := digestOf(clips)
	checker.mu.Lock()
	known, ok := checker.known[v.origin.ID]
	checker.mu.Unlock()
	if ok && known.digest == digest {
		return known.notices, nil
	}
	var list []cliplint.Clip
	for _, c := range clips {
		list = append(list, cliplint.Clip{Name: c.Name, Load: func(ctx context.Context) ([]float32, error) {
			return v.load(ctx, c.Media)
		}})
	}
	notices, err := cliplint.Check(ctx, list)
	if err != nil {
		return nil, err
	}
	notices = slices.DeleteFunc(notices, func(n cliplint.Notice) bool {
		return n.Fault == cliplint.Unreadable || n.Fault == cliplint.Duplicate && equal(clips, n.Clip, n.Other)
	})
	checker.mu.Lock()
	defer checker.mu.Unlock()
	if checker.known == nil {
		checker.known = map[string]cachedReport{}
	}
	checker.known[v.origin.ID] = cachedReport{digest, notices}
	return notices, nil
}

// equal reports whether two clips are the same file by their hashes.
func equal(clips []models.Clip, a, b string) bool {
	var hashes []string
	for _, c := range clips {
		if c.Name == a || c.Name == b {
			hashes = append(hashes, c.Media.Hash)
		}
	}
	return len(hashes) == 2 && hashes[0] == hashes[1] && hashes[0] != ""
}

// digestOf returns a digest of the names and versions of clips, which changes when one of them
// does.
func digestOf(clips []models.Clip) [sha256.Size]byte {
	d := sha256.New()
	for _, c := range clips {
		fmt.Fprintf(d, "%q %q\n", c.Name, c.Media.Version)
	}
	return [sha256.Size]byte(d.Sum(nil))
}

// load fetches and decodes a clip.
func (v *folderVisit) load(ctx context.Context, ref models.MediaRef) ([]float32, error) {
	f, err := v.fetch.Fetch(ctx, ref)
	if err != nil {
		return nil, err
	}
	wave, err := clips.Load(ctx, f.Path, exact.MaxClip)
	return wave, errors.Join(err, f.Close())
}
