package clips

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// readFolder lists the recordings in a folder and all folders below it, by name. It skips hidden files and
// folders. The listing is complete unless a folder could not be read, because its recordings may still exist. If
// nothing has changed since known, it lists nothing (same).
func (l *Lister) readFolder(ctx context.Context, o models.Origin, known models.Known) (observed, error) {
	root, err := l.Fetch.Folder(o.URI)
	if err != nil {
		return observed{}, err
	}
	defer root.Close()
	v := folderVisit{origin: o, fetch: l.Fetch, root: root, problems: problems{origin: o.ID}, sidecars: map[string]bool{}, complete: true}
	if err := v.findFiles(ctx, folderEntries); err != nil {
		return observed{}, fmt.Errorf("read folder %s: %w", o.URI, err)
	}
	seen := observed{digest: prefix(o) + v.digest()}
	if seen.digest == known.Digest && v.complete {
		seen.same = true
		return seen, nil
	}
	seen.Listing, err = l.listFolder(ctx, &v)
	return seen, err
}

// listFolder turns the files that the walk found into a listing. A recording that cannot be read is a problem.
func (l *Lister) listFolder(ctx context.Context, v *folderVisit) (catalog.Listing, error) {
	o := v.origin
	listing := catalog.Listing{}
	for _, name := range v.recordings {
		rec, side, err := v.curateFile(ctx, name)
		if ctx.Err() != nil {
			return catalog.Listing{}, context.Cause(ctx)
		}
		switch {
		case err != nil:
			v.problems.add(sanitize(name), "%s", fault.Reason(err))
		case o.Kind == models.Clips:
			listing.Clips = append(listing.Clips, models.Clip{Recording: rec})
		default:
			listing.Episodes = append(listing.Episodes, models.Episode{Recording: rec, Aired: side.aired})
		}
	}
	var err error
	if listing.Clips, err = v.checkClips(ctx, &l.checker, listing.Clips); err != nil {
		return catalog.Listing{}, err
	}
	listing.Problems, listing.Complete = v.problems.all(), v.complete
	return listing, nil
}

// A folderVisit is one visit of a folder.
type folderVisit struct {
	origin     models.Origin
	fetch      *fetch.Fetcher
	root       *os.Root
	recordings []string // paths relative to root, in order
	sidecars   map[string]bool
	problems   problems
	complete   bool
}

// findFiles finds recordings, and files that may be their sidecars, among the first most entries. A folder below
// that cannot be read is a problem, and the visit is not complete.
func (v *folderVisit) findFiles(ctx context.Context, most int) error {
	seen := 0
	err := fs.WalkDir(v.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if seen++; ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && name == ".":
			return fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
		case err != nil:
			v.complete = false
			v.problems.add(sanitize(name), "the folder cannot be read: %v", withoutPath(err))
			return nil
		case name == ".":
			return nil
		case seen > most:
			v.complete = false
			v.problems.add("", "the folder holds more than the %d files that are read", most)
			return fs.SkipAll
		}
		return v.sortEntry(name, e)
	})
	if err != nil {
		return err
	}
	return ctx.Err()
}

// sortEntry sorts one entry of the walk: recordings, sidecars, and problems with names and links. It returns
// fs.SkipDir for a folder to skip, and no other error.
func (v *folderVisit) sortEntry(name string, e fs.DirEntry) error {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(base, "."):
		if e.IsDir() {
			return fs.SkipDir
		}
	case !wellNamed(base):
		if e.IsDir() {
			v.problems.add(strconv.Quote(name), "the folder's name has control characters or is not UTF-8")
			return fs.SkipDir
		}
		if isAudio(base) {
			v.problems.add(strconv.Quote(name), "the file's name has control characters or is not UTF-8")
		}
	case e.IsDir():
	case e.Type()&fs.ModeSymlink != 0 && v.isFolder(name):
		v.problems.add(sanitize(name), "a link to a folder, which is not followed; add the folder itself as an origin if it is elsewhere")
	case isAudio(base):
		v.recordings = append(v.recordings, name)
	case path.Ext(base) == ".yaml":
		v.sidecars[name] = true
	}
	return nil
}

// isFolder reports whether a link leads to a folder, within the origin's folder or elsewhere. It reads nothing of it.
func (v *folderVisit) isFolder(link string) bool {
	info, err := os.Stat(filepath.Join(v.origin.URI, filepath.FromSlash(link)))
	return err == nil && info.IsDir()
}

// curateFile returns one file as a recording, with its sidecar. The error, for people, is a problem
// of the file. Only clips of at most clipHashBytes get a hash here, because it reads the whole
// file.
func (v *folderVisit) curateFile(ctx context.Context, name string) (models.Recording, sidecar, error) {
	info, err := checkRegular(v.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("a link to a file that does not exist")
	}
	if err != nil {
		return models.Recording{}, sidecar{}, err
	}
	if len(name) > nameLimit {
		return models.Recording{}, sidecar{}, fmt.Errorf("its path has more than %d bytes", nameLimit)
	}
	rec := models.Recording{Name: name, Priority: v.origin.Priority, Media: models.MediaRef{
		URI:     fetch.FileURI(filepath.Join(v.origin.URI, filepath.FromSlash(name))),
		Type:    audioType(name),
		Version: fileVersion(info),
	}}
	if v.origin.Kind == models.Clips && info.Size() <= clipHashBytes {
		if rec.Media.Hash, err = v.hash(ctx, rec.Media); err != nil {
			return models.Recording{}, sidecar{}, err
		}
	}
	side := v.readSidecar(name)
	base := path.Base(name)
	rec.Title = cmp.Or(side.title, sanitize(strings.TrimSuffix(base, path.Ext(base))), sanitize(base))
	if side.priority != nil {
		rec.Priority = *side.priority
	}
	return rec, side, nil
}

// hash returns the hash of a recording, which it reads.
func (v *folderVisit) hash(ctx context.Context, ref models.MediaRef) (string, error) {
	f, err := v.fetch.Fetch(ctx, ref)
	if err != nil {
		return "", err
	}
	return f.Hash, f.Close()
}

// readSidecar reads the sidecar of a recording; the zero sidecar if there is none. NAME.wav.yaml
// comes before NAME.yaml. A malformed sidecar is a problem and counts as none.
func (v *folderVisit) readSidecar(name string) sidecar {
	for _, beside := range []string{name + ".yaml", strings.TrimSuffix(name, path.Ext(name)) + ".yaml"} {
		if !v.sidecars[beside] {
			continue
		}
		content, err := readSmall(v.root, beside, sidecarBytes)
		var side sidecar
		if err == nil {
			side, err = parseSidecar(content)
		}
		if err != nil {
			v.problems.add(sanitize(beside), "%s; %s is curated without it", fault.Reason(err), sanitize(path.Base(name)))
			return sidecar{}
		}
		return side
	}
	return sidecar{}
}
