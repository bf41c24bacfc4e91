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

	"leasehold/manager/move"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// Flow visits repositories by their refs.
type Flow struct {
	Catalog catalog.Origins
	Fetch   *fetch.Fetcher
	Log     *slog.Logger
}

// Visit reads the refs of a repository and compares them with the known ones. It reads the origin
// from the catalog and takes only the id, Listed and the known state from the visit, because any
// client may put a visit. With an error the outcome has only the Retry-After of the server.
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
	var found state
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		found, err = readRefs(ctx, o.URI, v.Known)
		return err
	})
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, fmt.Errorf("git %s: %w", o.URI, err)
	}
	outcome := models.Outcome{Status: models.Eventful, Items: len(found.Refs), Digest: Digest(found.Refs), ChangedAt: found.Times, Since: found.Since, Size: found.Size,
		Move: move.Redirected(f.Fetch, o, found.movedTo)}
	if outcome.Digest == v.Known.Digest {
		outcome.Status = models.Uneventful
	}
	return outcome, nil
}

// state is what a visit found.
type state struct {
	gitrepo.State
	movedTo string // where the server redirects for good; empty: nowhere
}

// refsBytes bounds the answer with all refs of a repository.
const refsBytes = 64 << 20

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

// readRemote requests the refs of a repository behind http(s) and, if they have changed, the dates
// of its commits, since the last visit or, at the first one, of packSpan.
func (f *Flow) readRemote(ctx context.Context, uri string, known models.Known) (state, error) {
	u, err := url.Parse(uri)
	if err != nil || !models.IsWebURL(uri) {
		return state{}, fmt.Errorf("not a repository: want a folder or an http(s) URL: %w", fault.ErrInvalid)
	}
	u.RawQuery = ""
	at := u.JoinPath("info/refs")
	at.RawQuery = "service=git-upload-pack"
	doc, err := f.Fetch.Poll(ctx, at.String(), models.Known{}, refsBytes)
	if err != nil {
		return state{}, err
	}
	ad, err := gitrepo.ParseAdvertised(doc.Content)
	s := state{gitrepo.State{Refs: ad.Refs, Size: int64(len(doc.Content))}, repositoryAt(doc.MovedTo)}
	if err != nil || Digest(s.Refs) == known.Digest {
		return s, err
	}
	since := known.At
	if since.IsZero() {
		since = time.Now().Add(-packSpan)
	}
	var all bool
	s.Times, all = f.requestDates(ctx, u, ad, since)
	if all {
		s.Since = since
	}
	return s, nil
}

// repositoryAt returns the URL of the repository whose refs have a URL; empty if that is not a URL of refs.
func repositoryAt(refs string) string {
	u, err := url.Parse(refs)
	if err != nil {
		return ""
	}
	path, ok := strings.CutSuffix(u.Path, "/info/refs")
	if !ok {
		return ""
	}
	u.Path, u.RawPath, u.RawQuery = path, "", ""
	return u.String()
}

// readFolder reads a repository in a folder of this machine.
func (f *Flow) readFolder(ctx context.Context, path string, _ models.Known) (state, error) {
	root, err := f.Fetch.Folder(path)
	if err != nil {
		return state{}, err
	}
	defer root.Close()
	found, err := gitrepo.ReadFolder(ctx, root)
	return state{State: found}, err
}
