package clips

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// soundless are types and extensions of files that have no sound, beside images, texts, fonts and models. A playlist
// names recordings, and is none.
var soundless = []string{"application/x-bittorrent", "application/pdf", "application/epub+zip", "application/zip", "application/gzip", "application/json", "application/json+chapters",
	"application/xml", "application/rss+xml", "application/atom+xml", "application/xhtml+xml", "application/srt", "application/x-subrip", "application/x-shockwave-flash",
	"audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls", "application/mpegurl", "application/x-mpegurl", "application/vnd.apple.mpegurl",
	".torrent", ".pdf", ".epub", ".zip", ".gz", ".json", ".xml", ".html", ".htm", ".txt", ".vtt", ".srt", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".m3u", ".m3u8", ".pls"}

// lacksSound returns the type, or else the extension, that tells that an enclosure has no sound; else it is empty. The
// extension of a recording counts more than any type, and application/octet-stream means that the type is unknown.
func lacksSound(e *gofeed.Enclosure) string {
	kind, _, _ := strings.Cut(strings.ToLower(e.Type), ";")
	kind = strings.TrimSpace(kind)
	major, _, _ := strings.Cut(kind, "/")
	extension := strings.ToLower(path.Ext(urlPath(e.URL)))
	switch {
	case isAudio(extension):
		return ""
	case slices.Contains([]string{"image", "text", "font", "model"}, major), slices.Contains(soundless, kind):
		return kind
	case extension == ".torrent", (kind == "" || kind == "application/octet-stream") && slices.Contains(soundless, extension):
		return cmp.Or(kind, extension)
	}
	return ""
}

// chooseEnclosure returns the first enclosure whose type or extension is audio or video, or else the first of an
// unknown type. One without sound is never chosen. The error, for people, names the types of the others.
func chooseEnclosure(list []*gofeed.Enclosure) (gofeed.Enclosure, error) {
	var maybe *gofeed.Enclosure
	var others []string
	for _, e := range list {
		if e == nil || strings.TrimSpace(e.URL) == "" {
			continue
		}
		switch lacking := lacksSound(e); {
		case lacking != "":
			others = append(others, sanitize(lacking))
		case hasSound(e.Type) || isAudio(urlPath(e.URL)):
			return trimmed(*e), nil
		case maybe == nil:
			maybe = e
		}
	}
	switch {
	case maybe != nil:
		return trimmed(*maybe), nil
	case len(others) > 0:
		return gofeed.Enclosure{}, fmt.Errorf("no sound is enclosed, only %s", sanitize(strings.Join(others, ", ")))
	}
	return gofeed.Enclosure{}, errors.New("nothing is enclosed")
}

func trimmed(e gofeed.Enclosure) gofeed.Enclosure {
	e.URL = strings.ReplaceAll(strings.TrimSpace(e.URL), "&amp;", "&") // escaped twice
	return e
}

// urlPath returns the path of a URL, or the text itself if it is none.
func urlPath(uri string) string {
	uri = strings.TrimSpace(uri)
	if u, err := url.Parse(uri); err == nil {
		return u.Path
	}
	return uri
}

// mediaType returns the type that the feed states, or else the type of the extension.
func mediaType(e gofeed.Enclosure) string {
	if t := sanitize(e.Type); t != "" && len(t) < 128 {
		return t
	}
	return audioType(urlPath(e.URL))
}

// priorityOf returns the text of an item's priority element and whether there is one.
// Of several namespaces with such an element, the first by name wins.
func priorityOf(item *gofeed.Item) (string, bool) {
	for _, namespace := range slices.Sorted(maps.Keys(item.Extensions)) {
		elements := item.Extensions[namespace]
		for _, name := range slices.Sorted(maps.Keys(elements)) {
			if strings.EqualFold(name, "priority") && len(elements[name]) > 0 {
				return elements[name][0].Value, true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.Custom)) {
		if strings.EqualFold(name, "priority") {
			return item.Custom[name], true
		}
	}
	return "", false
}

// A source resolves the enclosures of a feed's items. The version is empty if only the
// feed's dates can tell that the content changed.
type source interface {
	resolve(enclosure string) (uri, version string, err error)
	close()
}

// web is the source of a feed from a URL.
type web struct {
	base   *url.URL // of the document; nil: it is a file
	check  func(uri string) error
	origin string // its URI
}

func (w web) close() {}

// resolve returns the absolute URL of an enclosure, which must be http or https and one that may
// be fetched. It has no version. The user and password of the origin's URL, which a relative
// enclosure inherits, are kept in the origin only (models.WithUserOf). The error is a reason for
// people; it does not repeat the URL, which the problem names already.
func (w web) resolve(enclosure string) (uri, version string, err error) {
	u, err := parseEnclosure(enclosure)
	if err != nil {
		return "", "", err
	}
	if w.base != nil {
		u = w.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", "", fmt.Errorf("scheme %q is refused: a feed may name http and https URLs", sanitize(u.Scheme))
	}
	u.Fragment = ""
	uri = models.WithoutUserOf(w.origin, u.String())
	if err := w.check(uri); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return "", "", errors.New(strings.TrimSuffix(reason, ": "+fault.ErrInvalid.Error()))
	}
	return uri, "", nil
}

// parseEnclosure parses the URL of an enclosure, of at most enclosureLimit bytes. The error, for
// people, is of no kind and does not repeat the URL.
func parseEnclosure(s string) (*url.URL, error) {
	if len(s) > enclosureLimit {
		return nil, fmt.Errorf("its URL has %d bytes; %d are accepted", len(s), enclosureLimit)
	}
	u, err := url.Parse(s)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	return u, nil
}

// localBase is the source of a feed in a folder. Its items may enclose files of that
// folder.
type localBase struct {
	web
	dir  string
	root *os.Root
}

func (b localBase) close() { b.root.Close() }

// resolve returns the URL of an enclosure, or the file in the feed's folder that it names, with its
// version. A name may have an unescaped % or ?, so the text is tried as it is too. Other schemes than
// http and https are refused. The error is for people and of no kind of package fault.
func (b localBase) resolve(enclosure string) (uri, version string, err error) {
	u, err := parseEnclosure(enclosure)
	switch {
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return b.web.resolve(enclosure)
	case err == nil && (u.Scheme != "" || u.Host != ""):
		return "", "", errors.New("refused: a local feed may name http and https URLs, and files by their path relative to its folder")
	case len(enclosure) > enclosureLimit:
		return "", "", err // parseEnclosure refuses that length
	}
	names := []string{enclosure}
	if err == nil {
		names = []string{u.Path, enclosure}
	}
	return b.firstFile(names)
}

// firstFile returns the first of the names that belongs to a file. A name that leads out of the folder is an
// error. It tries the next name only if a file does not exist.
func (b localBase) firstFile(names []string) (uri, version string, err error) {
	for _, name := range names {
		name = filepath.FromSlash(name)
		if !filepath.IsLocal(name) {
			return "", "", errors.New("leads out of the feed's folder; only paths relative to it are accepted")
		}
		var info fs.FileInfo
		if info, err = checkRegular(b.root, name); err == nil {
			return fetch.FileURI(filepath.Join(b.dir, name)), fileVersion(info), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return "", "", err
}
