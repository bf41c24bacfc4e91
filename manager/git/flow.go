package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// Flow visits repositories by their refs.
type Flow struct {
	Catalog catalog.Origins
	Fetch   *fetch.Fetcher
	Log     *slog.Logger
}

// Visit reads the refs of a repository and compares them with the known ones. It reads the origin from the
// catalog and takes only the id, Listed and the known state from the visit, because any client may put a visit.
// With an error the outcome has only the Retry-After of the server.
func (f *Flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := catalog.Find(ctx, f.Log, f.Catalog, v.Origin.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	o.Listed = o.Listed || v.Listed
	if err := f.Fetch.Trust(o); err != nil {
		return models.Outcome{}, fmt.Errorf("git %s: %w", o.URI, err)
	}
	readRefs := f.readRemote
	if filepath.IsAbs(o.URI) {
		readRefs = f.readFolder
	}
	var found seen
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		found, err = readRefs(ctx, o.URI, v.Known)
		return err
	})
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, fmt.Errorf("git %s: %w", o.URI, err)
	}
	outcome := models.Outcome{Status: models.Eventful, Items: len(found.refs), Digest: found.digest(), ChangedAt: found.times, Size: found.size}
	if outcome.Digest == v.Known.Digest {
		outcome.Status = models.Uneventful
	}
	return outcome, nil
}

// Bounds of one repository.
const (
	maxRefs   = 200_000
	refsBytes = 64 << 20 // of all refs
	refBytes  = 4 << 10  // of one
	logBytes  = 256 << 10
)

// seen is the result of one visit.
type seen struct {
	refs  map[string]string // hash, by name
	times []time.Time       // of changes, the latest first
	size  int64
}

func (s seen) digest() string { return Digest(s.refs) }

// Digest returns a hash of the names and hashes of refs.
func Digest(refs map[string]string) string {
	lines := make([]string, 0, len(refs))
	for name, hash := range refs {
		lines = append(lines, hash+" "+name+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return "refs:" + hex.EncodeToString(sum[:])
}

// readRemote requests the refs of a repository behind http(s) and, if they have changed, the dates of its
// commits, since the last visit or, at the first one, of packSpan.
func (f *Flow) readRemote(ctx context.Context, uri string, known models.Known) (seen, error) {
	u, err := url.Parse(uri)
	if err != nil || !models.IsWebURL(uri) {
		return seen{}, fmt.Errorf("not a repository: want a folder or an http(s) URL: %w", fault.ErrInvalid)
	}
	u.RawQuery = ""
	at := u.JoinPath("info/refs")
	at.RawQuery = "service=git-upload-pack"
	content, err := f.Fetch.Document(ctx, at.String(), refsBytes)
	if err != nil {
		return seen{}, err
	}
	ad, err := parseAdvertisement(content)
	s := seen{refs: ad.refs, size: int64(len(content))}
	if err != nil || s.digest() == known.Digest {
		return s, err
	}
	since := known.At
	if since.IsZero() {
		since = time.Now().Add(-packSpan)
	}
	s.times = f.requestDates(ctx, u, ad, since)
	return s, nil
}
