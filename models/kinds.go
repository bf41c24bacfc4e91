package models

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// OriginKind is a kind of origin.
type OriginKind string

// The kinds of origin.
const (
	Feed  OriginKind = "feed"  // an RSS or Atom document whose items enclose episodes
	Media OriginKind = "media" // a folder of episodes
	Clips OriginKind = "clips" // a folder of clips
	Git   OriginKind = "git"   // a repository, visited by its refs

	// Listers: a visit of a lister names other origins.
	OPML         OriginKind = "opml"         // a document of feeds
	URLs         OriginKind = "urls"         // a text file with the URL of a feed or repository on each line
	Repositories OriginKind = "repositories" // a folder of repositories

	API OriginKind = "api" // a curator that sends its episodes and clips; never visited
)

// FlowName names a flow of a manager: the code that visits origins of some kinds, and
// issues and ingests the work of an action.
type FlowName string

// The flows of a manager.
const (
	ArchiveFlow FlowName = "archive"
	GitFlow     FlowName = "git"
	ListerFlow  FlowName = "lister"
)

// Local is the form of an origin on the manager's machine. It decides what the
// manager may read for it, because only the operator adds local origins.
type Local int

// The forms of a local origin.
const (
	NotLocal    Local = iota
	LocalFile         // the manager may read the folder that holds the file
	LocalFolder       // the manager may read the folder and all folders below it
)

// KindInfo is one row of the table of origin kinds. Code that differs between kinds
// reads this table, so that a new kind needs a row here, a flow, and, if its content
// decides, a probe in manager/archive/detect.go.
type KindInfo struct {
	Kind  OriginKind
	Label string   // what may be named, for people
	Item  string   // what a visit counts, for people, in the singular
	Flow  FlowName // visits origins of this kind; empty: they are not visited

	URL   bool // an origin may be an http(s) URL
	Local Local

	// Detection by name: the ends of a URL's path and of a file's name, in lower case.
	URLSuffix, FileSuffix string

	// ReadWithin is how long reading one may take, so that an origin that hangs does not
	// keep its slot; 0: any time, because it is on this machine.
	ReadWithin time.Duration

	Lister   bool // a visit names other origins: URLs and, of a LocalFolder, paths below it
	Listable bool // a lister may name origins of this kind
}

var kinds = []KindInfo{
	{Kind: Feed, Label: "a feed (a file or an http(s) URL)", Item: "recording", Flow: ArchiveFlow,
		URL: true, Local: LocalFile, ReadWithin: 30 * time.Second, Listable: true},
	{Kind: Media, Label: "a folder of episodes", Item: "recording", Flow: ArchiveFlow, Local: LocalFolder},
	{Kind: Clips, Label: "a folder named clips", Item: "recording", Flow: ArchiveFlow, Local: LocalFolder},
	{Kind: Git, Label: "a repository", Item: "ref", Flow: GitFlow,
		URL: true, Local: LocalFolder, URLSuffix: ".git", ReadWithin: 10 * time.Minute, Listable: true},
	{Kind: OPML, Label: "a list of feeds (.opml)", Item: "origin", Flow: ListerFlow,
		URL: true, Local: LocalFile, URLSuffix: ".opml", FileSuffix: ".opml", ReadWithin: 2 * time.Minute, Lister: true},
	{Kind: URLs, Label: "a list of URLs (.txt)", Item: "origin", Flow: ListerFlow,
		URL: true, Local: LocalFile, FileSuffix: ".txt", ReadWithin: 2 * time.Minute, Lister: true},
	{Kind: Repositories, Label: "a folder of repositories (with --kind repositories)", Item: "origin", Flow: ListerFlow,
		Local: LocalFolder, Lister: true},
	{Kind: API, Label: "a curator that uses the API"},
}

// Kinds returns the table of origin kinds.
func Kinds() []KindInfo { return slices.Clone(kinds) }

// Info returns the row of a kind. The row of an unknown kind is the zero KindInfo.
func (k OriginKind) Info() KindInfo {
	return firstKind(func(info KindInfo) bool { return info.Kind == k })
}

// Known reports whether the kind is in the table.
func (k OriginKind) Known() bool { return k.Info().Kind != "" }

// Visited reports whether a manager visits origins of this kind.
func (k OriginKind) Visited() bool { return k.Info().Flow != "" }

// VisitedKinds returns the kinds that are visited, for messages that list the
// accepted kinds.
func VisitedKinds() []OriginKind {
	return kindsWith(func(info KindInfo) bool { return info.Flow != "" })
}

// ListerKinds returns the kinds whose visits name other origins.
func ListerKinds() []OriginKind { return kindsWith(func(info KindInfo) bool { return info.Lister }) }

// KindOfURL returns the kind of a URL with that path: by its suffix, or else a feed.
func KindOfURL(urlPath string) OriginKind {
	suffix := strings.ToLower(path.Ext(urlPath))
	if k := firstKind(func(info KindInfo) bool { return info.URLSuffix != "" && info.URLSuffix == suffix }); k.Kind != "" {
		return k.Kind
	}
	return Feed
}

// KindOfFile returns the kind of a file with that name: by its suffix, or "" if only
// its content can tell.
func KindOfFile(name string) OriginKind {
	suffix := strings.ToLower(path.Ext(name))
	return firstKind(func(info KindInfo) bool { return info.FileSuffix != "" && info.FileSuffix == suffix }).Kind
}

// maxURI is the maximum length of an origin's URI, in bytes.
const maxURI = 4096

// IsWebURL reports whether uri is an http or https URL with a host, of at most 4096 bytes.
func IsWebURL(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && len(uri) <= maxURI && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// Accepted reports whether a visit can reach an origin of kind k at uri: an http(s) URL if
// the kind may have one, or a path that is absolute and clean. An origin that is not
// visited may have any URI.
func (k OriginKind) Accepted(uri string) bool {
	if !k.Visited() {
		return k.Known() && uri != ""
	}
	return k.Info().URL && IsWebURL(uri) || isCleanPath(uri)
}

// MayList reports whether a lister may name an origin: a URL of a kind that is Listable
// or, if the lister is a folder, a path below it.
func (o Origin) MayList(n ListedOrigin) bool {
	below := o.Kind.Info().Local == LocalFolder && isCleanPath(n.URI) && strings.HasPrefix(n.URI, o.URI+"/")
	return n.Kind.Info().Listable && (IsWebURL(n.URI) || below)
}

func isCleanPath(uri string) bool {
	return path.IsAbs(uri) && path.Clean(uri) == uri && len(uri) <= maxURI
}

func kindsWith(keep func(KindInfo) bool) (found []OriginKind) {
	for _, info := range kinds {
		if keep(info) {
			found = append(found, info.Kind)
		}
	}
	return found
}

func firstKind(keep func(KindInfo) bool) KindInfo {
	if i := slices.IndexFunc(kinds, keep); i >= 0 {
		return kinds[i]
	}
	return KindInfo{}
}
