package clips

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcdole/gofeed"

	"leasehold/manager/repair"
	"leasehold/models"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// manifestName is the name of the file that lists origins.
const manifestName = "origins.yaml"

const (
	manifestBytes = 1 << 20
	detectEntries = 100_000 // of a folder that are searched for a recording
)

// Detect turns a path or a URL that a user named into origins: the ones that a manifest
// lists, or one. Kind is one of models.VisitedKinds, or "" to detect it:
//
//   - a URL is of the kind of its suffix, or else a feed (models.KindOfURL)
//   - origins.yaml, or a folder with that file, is a manifest
//   - a file is of the kind of its suffix, or else a feed if its content is one
//   - a folder is of the first kind in folderProbes that accepts it
//
// Ids are set and paths absolute; the caller sets AddedAt. All origins count as named
// by the operator, also those in a manifest. Errors state what is accepted. They wrap
// fault.ErrNotFound for a path that does not exist, fault.ErrUsage for an unknown kind,
// and else fault.ErrInvalid.
func Detect(path, kind string) ([]models.Origin, error) {
	if kind != "" && models.OriginKind(kind).Info().Flow == "" {
		return nil, fmt.Errorf("kind %q does not exist in this version: %s are accepted: %w", kind, kindNames(), fault.ErrUsage)
	}
	origins, err := detect(path, models.OriginKind(kind), withManifests)
	if err != nil {
		return nil, fmt.Errorf("origin %s: %w", path, err)
	}
	return origins, nil
}

// withManifests is the argument of detect with which it reads manifests.
const withManifests = true

// detect is Detect without the check of kind. Without manifests, a manifest is a file like any other.
func detect(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	if strings.Contains(path, "://") {
		return detectURL(path, kind)
	}
	if path == "" {
		return nil, fmt.Errorf("the path is empty; %s: %w", accepted(), fault.ErrInvalid)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no such file or folder: %w", fault.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	case !info.IsDir():
		return detectFile(path, kind, manifests)
	}
	return detectFolder(path, kind, manifests)
}

// detectURL returns the origin of a URL. With kind, the URL must be one that the kind accepts;
// fault.ErrInvalid otherwise. Without kind an ssh URL is a repository, and the path of any other
// decides.
func detectURL(uri string, kind models.OriginKind) ([]models.Origin, error) {
	u, err := url.Parse(uri)
	isSSH := models.IsSSHURL(uri)
	if err != nil || !isSSH && (!isURL(uri) || u.Hostname() == "") {
		return nil, fmt.Errorf("not a URL that is accepted: http://HOST/… and https://HOST/… are, ssh://HOST/… for repositories, and paths: %w", fault.ErrInvalid)
	}
	switch {
	case kind == "" && isSSH:
		kind = models.Git
	case kind == "":
		kind = models.KindOfURL(u.Path)
	}
	if isSSH && !kind.Info().SSH {
		return nil, fmt.Errorf("an ssh URL; only a repository (kind %s) may have one: %w", models.Git, fault.ErrInvalid)
	}
	if !kind.Info().URL {
		return nil, fmt.Errorf("a URL; %s wants a folder: %w", kind, fault.ErrInvalid)
	}
	u.Fragment = ""
	return one(kind, u.String()), nil
}

func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// detectFile returns the origin of a file, or the origins of a manifest. It never detects a manifest by its
// content, because many YAML files could be one; only the name decides. A link is resolved, because a feed may
// enclose files of its own folder. Without kind, the file must be a feed. A manifest is accepted only with
// manifests, because one cannot name another.
func detectFile(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	switch {
	case kind != "" && kind.LocalForm(path) != models.LocalFile:
		return nil, fmt.Errorf("a file; %s wants a folder: %w", kind, fault.ErrInvalid)
	case kind == "" && manifests && filepath.Base(path) == manifestName:
		return readManifest(path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	if kind == "" {
		kind = models.KindOfFile(path)
	}
	if kind != "" {
		return one(kind, path), nil
	}
	begin, err := beginning(path)
	if err != nil {
		return nil, err
	}
	if text, _, err := repair.Document(begin, "", detectBytes); err != nil || gofeed.DetectFeedType(bytes.NewReader(text)) == gofeed.FeedTypeUnknown {
		return nil, fmt.Errorf("the file is not an RSS, Atom or JSON feed; %s: %w", accepted(), fault.ErrInvalid)
	}
	return one(models.Feed, path), nil
}

// accepted lists the kinds of origin with their forms, for errors.
func accepted() string {
	var labels []string
	for _, k := range models.VisitedKinds() {
		labels = append(labels, k.Info().Label)
	}
	return "accepted are " + strings.Join(labels, ", ") + ", and a folder with an " + manifestName
}

const (
	beginningBytes = 4096    // of a document are read to detect a feed
	detectBytes    = 4 << 20 // are what these may be when they are decoded
)

// beginning returns the first bytes of a file, enough to detect a feed.
func beginning(path string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	defer root.Close()
	f, _, err := fetch.OpenRegular(root, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, beginningBytes))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutPath(err), fault.ErrInvalid)
	}
	return content, nil
}

// folderProbes detect the kind of a folder; the first that accepts it decides.
var folderProbes = []struct {
	kind    models.OriginKind
	accepts func(path string) (bool, error)
}{
	{models.Git, func(path string) (bool, error) { return isRepository(path), nil }},
	{models.Clips, func(path string) (bool, error) { return strings.EqualFold(filepath.Base(path), "clips"), nil }},
	{models.Media, holdsRecordings},
}

// detectFolder returns the origin of a folder, or the origins of the manifest in it. Without kind, the first
// probe that accepts the folder decides.
func detectFolder(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	manifest := filepath.Join(path, manifestName)
	_, err := os.Lstat(manifest)
	switch {
	case kind != "" && kind.Info().Local != models.LocalFolder:
		return nil, fmt.Errorf("a folder; a %s is a file or an http(s) URL: %w", kind, fault.ErrInvalid)
	case kind != "":
		return one(kind, path), nil
	case manifests && err == nil:
		return readManifest(manifest)
	}
	for _, p := range folderProbes {
		if ok, err := p.accepts(path); ok || err != nil {
			return one(p.kind, path), err
		}
	}
	return nil, fmt.Errorf("the folder holds no recordings; %s: %w", accepted(), fault.ErrInvalid)
}

// isRepository reports whether a folder is a git repository, bare or with a work tree, or a
// further work tree of one.
func isRepository(path string) bool {
	if gitrepo.IsWorktree(path) {
		return true
	}
	for _, dir := range []string{filepath.Join(path, ".git"), path} {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		defer root.Close()
		if gitrepo.IsRepository(root) {
			return true
		}
	}
	return false
}

// holdsRecordings reports whether a folder has a recording among its first detectEntries entries. It skips hidden
// files and folders, and folders below that cannot be read.
func holdsRecordings(path string) (found bool, err error) {
	path, err = filepath.EvalSymlinks(path) // WalkDir does not follow a link
	if err != nil {
		return false, fmt.Errorf("the folder cannot be read: %w: %w", withoutPath(err), fault.ErrInvalid)
	}
	seen := 0
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		seen++
		switch hidden := strings.HasPrefix(filepath.Base(name), "."); {
		case err != nil && name == path:
			return fmt.Errorf("the folder cannot be read: %w: %w", withoutPath(err), fault.ErrInvalid)
		case err != nil:
			return nil
		case hidden && name != path && e.IsDir():
			return fs.SkipDir
		case !hidden && !e.IsDir() && isAudio(name):
			found = true
			return fs.SkipAll
		case seen > detectEntries:
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

func one(kind models.OriginKind, uri string) []models.Origin {
	return []models.Origin{{ID: models.NewID(string(kind), uri), Kind: kind, URI: uri}}
}

// kindNames lists the kinds that are visited, for errors.
func kindNames() string {
	var names []string
	for _, k := range models.VisitedKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
