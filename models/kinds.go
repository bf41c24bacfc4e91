package models

import (
	"net/url"
	"path"
	"regexp"
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
	Git   OriginKind = "git"   // a repository, whose files are indexed

	Folder OriginKind = "folder" // a folder of source code without a repository

	// Listers: a visit of a lister names other origins.
	OPML         OriginKind = "opml"         // a document of feeds
	URLs         OriginKind = "urls"         // a text file with the URL of a feed or repository on each line
	Repositories OriginKind = "repositories" // a folder of repositories
	Forge        OriginKind = "forge"        // the repositories that the API of GitHub, GitLab or Gitea lists

	// Pushed is a program that pushes the origins that it knows; never visited.
	Pushed OriginKind = "lister"

	API OriginKind = "api" // a curator that sends its episodes and clips; never visited
)

// FlowName names a flow of a manager: the code that visits origins of some kinds, and
// issues and ingests the work of an action.
type FlowName string

// The flows of a manager.
const (
	ArchiveFlow FlowName = "archive"
	IndexFlow   FlowName = "index"
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
// decides, a probe in manager/clips/detect.go.
type KindInfo struct {
	Kind  OriginKind
	Label string   // what may be named, for people
	Item  string   // what a visit counts, for people, in the singular
	Flow  FlowName // visits origins of this kind; empty: they are not visited

	URL   bool // an origin may be an http(s) URL
	SSH   bool // an origin may be an ssh URL
	Local Local

	// Detection by name: the ends of a URL's path and of a file's name, in lower case. A
	// path that ends with FileSuffix is a LocalFile.
	URLSuffix, FileSuffix string

	// ReadWithin is how long reading one may take, so that an origin that hangs does not
	// keep its slot; 0: any time, because it is on this machine.
	ReadWithin time.Duration

	// Cooldown is the shortest time between two visits; 0: the one of the rules.
	Cooldown time.Duration

	Lister   bool // a visit names other origins: URLs and, of a LocalFolder, paths below it
	Listable bool // a lister may name origins of this kind
}

var kinds = []KindInfo{
	{Kind: Feed, Label: "a feed (a file or an http(s) URL)", Item: "recording", Flow: ArchiveFlow,
		URL: true, Local: LocalFile, ReadWithin: 30 * time.Second, Cooldown: 15 * time.Minute, Listable: true},
	{Kind: Media, Label: "a folder of episodes", Item: "recording", Flow: ArchiveFlow, Local: LocalFolder},
	{Kind: Clips, Label: "a folder named clips", Item: "recording", Flow: ArchiveFlow, Local: LocalFolder},
	{Kind: Git, Label: "a repository (a folder, a bundle, or an http(s) or ssh URL)", Item: "ref", Flow: IndexFlow,
		URL: true, SSH: true, Local: LocalFolder, URLSuffix: ".git", FileSuffix: ".bundle", ReadWithin: 10 * time.Minute, Cooldown: time.Hour, Listable: true},
	{Kind: Folder, Label: "a folder of source code (with --kind folder)", Item: "file", Flow: IndexFlow, Local: LocalFolder},
	{Kind: OPML, Label: "a list of feeds (.opml)", Item: "origin", Flow: ListerFlow,
		URL: true, Local: LocalFile, URLSuffix: ".opml", FileSuffix: ".opml", ReadWithin: 2 * time.Minute, Lister: true},
	{Kind: URLs, Label: "a list of URLs (.txt)", Item: "origin", Flow: ListerFlow,
		URL: true, Local: LocalFile, FileSuffix: ".txt", ReadWithin: 2 * time.Minute, Lister: true},
	{Kind: Repositories, Label: "a folder of repositories (with --kind repositories)", Item: "origin", Flow: ListerFlow,
		Local: LocalFolder, Lister: true},
	{Kind: Forge, Label: "a list of repositories in the API of GitHub, GitLab or Gitea (with --kind forge)", Item: "origin", Flow: ListerFlow,
		URL: true, ReadWithin: 10 * time.Minute, Lister: true},
	{Kind: Pushed, Label: "a program that pushes origins to the API", Item: "origin", Lister: true},
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

// Visited reports whether a manager or a program visits origins of this kind.
func (k OriginKind) Visited() bool { return k.Info().Flow != "" || k.IsProgram() }

// IsProgram reports whether the kind can be the name of a visit type that a program outside of
// this system registers: 1 to 32 of a-z 0-9 _ -, the first a letter, and not in the table.
func (k OriginKind) IsProgram() bool {
	for i := range kinds {
		if kinds[i].Kind == k {
			return false
		}
	}
	return programKind.MatchString(string(k))
}

var programKind = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

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

// LocalForm returns the form of an origin of kind k at a path.
func (k OriginKind) LocalForm(name string) Local {
	info := k.Info()
	if info.Local == LocalFolder && info.FileSuffix != "" && strings.HasSuffix(strings.ToLower(name), info.FileSuffix) {
		return LocalFile
	}
	return info.Local
}

// MaxURI is the maximum length of an origin's URI, in bytes.
const MaxURI = 4096

// WebURLPattern is the regular expression of the URLs that IsWebURL accepts.
const WebURLPattern = `^[Hh][Tt][Tt][Pp][Ss]?://(([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*@)?(([A-Za-z0-9._~-]|[^\x00-\x7f])+|` + ipv6Pattern + `)(:[0-9]*)?` +
	`(/([^%?#\x00-\x1f\x7f]|%[0-9A-Fa-f]{2})*)?(\?[^#\x00-\x1f\x7f]*)?(#([^%\x00-\x1f\x7f]|%[0-9A-Fa-f]{2})*)?$`

var webURL = regexp.MustCompile(WebURLPattern)

// IsWebURL reports whether uri is an http or https URL with a host, of at most 4096 bytes.
func IsWebURL(uri string) bool {
	_, err := url.Parse(uri)
	return err == nil && len(uri) <= MaxURI && webURL.MatchString(uri)
}

// IsSSHURL reports whether uri is an ssh URL with a host, of at most 4096 bytes. A name that
// begins with - is none, because ssh takes it for an option.
func IsSSHURL(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && len(uri) <= MaxURI && u.Scheme == "ssh" && u.Hostname() != "" && !strings.HasPrefix(u.Hostname(), "-") && !strings.HasPrefix(u.User.Username(), "-")
}

// Accepted reports whether a visit can reach an origin of kind k at uri: an http(s) or ssh URL, or an absolute and
// clean path, if the kind may have one. An origin that is never visited may have any URI.
func (k OriginKind) Accepted(uri string) bool {
	if k.IsProgram() {
		return isProgramURI(uri)
	}
	if !k.Visited() {
		return k.Known() && uri != ""
	}
	info := k.Info()
	return info.URL && IsWebURL(uri) || info.SSH && IsSSHURL(uri) || info.Local != NotLocal && isCleanPath(uri)
}

// MayList reports whether a lister may name an origin: a URL of a kind that is Listable, a URI of a program's type
// (the caller checks that it is registered), or, if the lister is a folder, a path below it.
func (o Origin) MayList(n ListedOrigin) bool {
	below := o.Kind.Info().Local == LocalFolder && isCleanPath(n.URI) && isBelow(o.URI, n.URI)
	return n.Kind.Info().Listable && (IsWebURL(n.URI) || below) || n.Kind.IsProgram() && isProgramURI(n.URI)
}

// isProgramURI reports whether a program may have an origin at uri: any URI with a scheme,
// of at most 4096 bytes, but no file.
func isProgramURI(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && len(uri) <= MaxURI && u.Scheme != "" && u.Scheme != "file" && strings.IndexFunc(uri, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// kindsWith returns the kinds whose rows keep reports, in the order of the table.
func kindsWith(keep func(KindInfo) bool) (found []OriginKind) {
	for _, info := range kinds {
		if keep(info) {
			found = append(found, info.Kind)
		}
	}
	return found
}

// firstKind returns the first row that keep reports; the zero KindInfo if there is none.
func firstKind(keep func(KindInfo) bool) KindInfo {
	if i := slices.IndexFunc(kinds, keep); i >= 0 {
		return kinds[i]
	}
	return KindInfo{}
}
