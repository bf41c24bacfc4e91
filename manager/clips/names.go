package clips

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
)

// A listed is an item of a feed with its enclosure.
type listed struct {
	*gofeed.Item
	number       int // in the feed, from 0
	enclosure    gofeed.Enclosure
	uri, version string // of the enclosure, resolved
}

// label names an item in a problem.
func (x listed) label() string {
	return cmp.Or(sanitize(x.Title), sanitize(x.GUID), sanitize(x.enclosure.URL), fmt.Sprintf("item %d", x.number+1))
}

// names returns the names that an item may have, the shortest first: its guid; guid and recording; those and the length
// of the recording. Without a guid they are the URL as the feed writes it, without and with the parameters that change
// at each visit. The last one is of this item only.
func (x listed) names() []string {
	guid := oneLine(x.GUID)
	if guid == "" {
		text := oneLine(x.enclosure.URL)
		return []string{lastingURL(text), text}
	}
	pair := guid + " " + recordingOf(x.uri)
	if length := lengthOf(x.enclosure); length > 0 {
		return []string{guid, pair, pair + " " + strconv.FormatInt(length, 10)}
	}
	return []string{guid, pair}
}

// lengthOf returns the length of an enclosure in bytes, 0 if it is unknown.
func lengthOf(e gofeed.Enclosure) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(e.Length), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// A namer chooses the names of the items of a feed. Of the items with one name the oldest keeps it, the first of those
// without a date, so that a new item does not take the name of an episode that was listed before.
type namer map[string]keeper

type keeper struct {
	item  string // its last name
	aired time.Time
}

// note adds an item, before names are chosen.
func (n namer) note(x listed) {
	names, at := x.names(), aired(x.Item)
	for _, name := range names {
		k, known := n[name]
		if older := !at.IsZero() && at.Before(k.aired); !known || older {
			n[name] = keeper{names[len(names)-1], at}
		}
	}
}

// name returns the shortest name of an item that it keeps and that is not taken, and takes all names that it keeps. It
// is empty if there is none, because an earlier item has the same recording.
func (n namer) name(x listed, taken map[string]bool) (name string) {
	names := x.names()
	for _, own := range slices.Backward(names) {
		if n[own].item == names[len(names)-1] && !taken[own] {
			name, taken[own] = own, true
		}
	}
	return name
}

// recordingOf returns what identifies the recording of a URL: the URL with those parameters only that select a file,
// because the others may change at each visit.
func recordingOf(uri string) string {
	return withParameters(oneLine(uri), selectsFile)
}

// lastingURL returns a URL without its signature and other parameters that change at each visit, if what is left names
// a recording. Else such a parameter may be all that tells two recordings apart.
func lastingURL(text string) string {
	signed := false
	left := withParameters(text, func(name, _ string) bool {
		signed = signed || changes(name)
		return !changes(name)
	})
	if signed && (isAudio(urlPath(left)) || withParameters(left, selectsFile) != withParameters(left, nothing)) {
		return left
	}
	return text
}

func nothing(string, string) bool { return false }

// withParameters returns a URL with some parameters of its query, in their order, and without a fragment.
func withParameters(uri string, keep func(name, value string) bool) string {
	uri, _, _ = strings.Cut(uri, "#")
	uri, query, _ := strings.Cut(uri, "?")
	var kept []string
	for _, parameter := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(parameter, "=")
		if keep(strings.ToLower(name), value) {
			kept = append(kept, parameter)
		}
	}
	if len(kept) == 0 {
		return uri
	}
	return uri + "?" + strings.Join(kept, "&")
}

// selecting are parameters that select a file.
var selecting = []string{"id", "p", "f", "ep", "no", "nr", "num", "number", "part", "episode", "episodeid", "episode_id", "episode-id", "file", "fileid", "file_id", "file-id", "filename",
	"item", "itemid", "item_id", "guid", "track", "trackid", "track_id", "media", "mediaid", "media_id", "audio", "audioid", "audio_id", "clip", "clipid", "clip_id", "mp3", "name", "path", "pid", "aid"}

// selectsFile reports whether a parameter selects a file, by its name or because its value is the name of a recording.
func selectsFile(name, value string) bool {
	return slices.Contains(selecting, name) || isAudio(path.Base(value))
}

// changing are parameters that may change at each visit: signatures, their dates, sessions and random numbers.
var changing = []string{"token", "access_token", "auth", "expires", "expiry", "exp", "signature", "sig", "policy", "key-pair-id", "hdnts", "hdnea", "verify", "awsaccesskeyid", "googleaccessid",
	"sid", "session", "sessionid", "session_id", "phpsessid", "jsessionid", "nonce", "timestamp", "ts", "cb", "cachebuster", "_", "rnd", "rand", "random"}

func changes(name string) bool {
	return slices.Contains(changing, name) || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-")
}
