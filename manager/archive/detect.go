package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"

	"leasehold/models"
	"leasehold/shared/fault"
)

// ManifestName is the file in a folder that lists origins.
const ManifestName = "origins.yaml"

const (
	manifestBytes = 1 << 20
	detectEntries = 100_000 // of a folder, looked at for one recording
)

// Detect turns what a user named, a path or a URL, into origins: the ones that
// a manifest lists, or one. Kind is one of models.OriginKinds, or "" to find out:
//
//   - an http(s) URL is a feed; one that ends in .git a repository, in .opml a
//     document of feeds
//   - origins.yaml, or a folder with that file, is a manifest
//   - a file that ends in .opml is a document of feeds, in .txt a list of URLs
//   - any other file is a feed, if its content is one
//   - a folder that git made is a repository
//   - a folder named clips is a folder of clips
//   - any other folder with recordings in it is a folder of episodes
//
// Ids are set and paths absolute; AddedAt is for the caller. What is named here
// counts as named by the operator, a manifest's content included. Errors say
// what is accepted, and wrap fault.ErrNotFound for a path where nothing is,
// fault.ErrUsage for a kind that does not exist and fault.ErrInvalid otherwise.
func Detect(path, kind string) ([]models.Origin, error) {
	if kind != "" && !slices.Contains(models.OriginKinds, models.OriginKind(kind)) {
		return nil, fmt.Errorf("kind %q does not exist in this version: %s are accepted: %w", kind, kinds(), fault.ErrUsage)
	}
	origins, err := detect(path, models.OriginKind(kind), true)
	if err != nil {
		return nil, fmt.Errorf("origin %s: %w", path, err)
	}
	return origins, nil
}

// detect is Detect; a manifest is looked for if manifests is set.
func detect(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	if strings.Contains(path, "://") {
		return detectURL(path, kind)
	}
	if path == "" {
		return nil, fmt.Errorf("the path is empty; %s: %w", accepted, fault.ErrInvalid)
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
		return nil, fmt.Errorf("%w: %w", readable(err), fault.ErrInvalid)
	case !info.IsDir():
		return detectFile(path, kind, manifests)
	}
	return detectFolder(path, kind, manifests)
}

func detectURL(uri string, kind models.OriginKind) ([]models.Origin, error) {
	u, err := url.Parse(uri)
	if err != nil || !isURL(uri) || u.Hostname() == "" {
		return nil, fmt.Errorf("not a URL that is accepted: http://HOST/… and https://HOST/… are, and paths: %w", fault.ErrInvalid)
	}
	switch kind {
	case models.Media, models.Clips, models.Repositories:
		return nil, fmt.Errorf("a URL is a feed; %s wants a folder: %w", kind, fault.ErrInvalid)
	case "":
		kind = kindOfName(u.Path, models.Feed)
	}
	u.Fragment = ""
	return one(kind, u.String()), nil
}

// kindOfName is what the end of a name says.
func kindOfName(name string, otherwise models.OriginKind) models.OriginKind {
	kind, ok := map[string]models.OriginKind{".git": models.Git, ".opml": models.OPML}[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return otherwise
	}
	return kind
}

func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func detectFile(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	switch {
	case slices.Contains([]models.OriginKind{models.Media, models.Clips, models.Git, models.Repositories}, kind):
		return nil, fmt.Errorf("a file; %s wants a folder: %w", kind, fault.ErrInvalid)
	case kind == "" && manifests && filepath.Base(path) == ManifestName:
		return readManifest(path)
	}
	// The feed's own folder is where it is, not where a link to it is.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", readable(err), fault.ErrInvalid)
	}
	if kind == "" && strings.EqualFold(filepath.Ext(path), ".txt") {
		kind = models.URLs
	}
	if kind == "" {
		kind = kindOfName(path, "")
	}
	if kind != "" {
		return one(kind, path), nil
	}
	begin, err := beginning(path)
	if err != nil {
		return nil, err
	}
	if gofeed.DetectFeedType(bytes.NewReader(begin)) == gofeed.FeedTypeUnknown {
		return nil, fmt.Errorf("the file is not an RSS, Atom or JSON feed; %s: %w", accepted, fault.ErrInvalid)
	}
	return one(models.Feed, path), nil
}

const accepted = "accepted are a feed (a file or an http(s) URL), a folder of episodes, a folder named clips, a repository, a list of URLs (.txt) or feeds (.opml), and a folder with an " + ManifestName

func beginning(path string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", readable(err), fault.ErrInvalid)
	}
	defer root.Close()
	f, _, err := openRegular(root, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", readable(err), fault.ErrInvalid)
	}
	return content, nil
}

func detectFolder(path string, kind models.OriginKind, manifests bool) ([]models.Origin, error) {
	manifest := filepath.Join(path, ManifestName)
	_, err := os.Lstat(manifest)
	switch {
	case kind == models.Feed, kind == models.OPML, kind == models.URLs:
		return nil, fmt.Errorf("a folder; a %s is a file or an http(s) URL: %w", kind, fault.ErrInvalid)
	case kind != "":
		return one(kind, path), nil
	case manifests && err == nil:
		return readManifest(manifest)
	case isRepository(path):
		return one(models.Git, path), nil
	case strings.EqualFold(filepath.Base(path), "clips"):
		return one(models.Clips, path), nil
	}
	found, err := holdsRecordings(path)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the folder holds no recordings; %s: %w", accepted, fault.ErrInvalid)
	}
	return one(models.Media, path), nil
}

// isRepository reports whether git made a folder, with files in it or without.
func isRepository(path string) bool {
	for _, dir := range []string{filepath.Join(path, ".git"), path} {
		head, err := os.Stat(filepath.Join(dir, "HEAD"))
		objects, missing := os.Stat(filepath.Join(dir, "objects"))
		if err == nil && missing == nil && head.Mode().IsRegular() && objects.IsDir() {
			return true
		}
	}
	return false
}

// holdsRecordings reports whether a folder has a recording among its first
// entries, hidden ones aside.
func holdsRecordings(path string) (found bool, err error) {
	seen := 0
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		seen++
		switch hidden := strings.HasPrefix(filepath.Base(name), "."); {
		case err != nil && name == path:
			return fmt.Errorf("the folder cannot be read: %w: %w", readable(err), fault.ErrInvalid)
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

func kinds() string {
	names := make([]string, len(models.OriginKinds))
	for i, k := range models.OriginKinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
