package elastic

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// indexState describes an index of the server.
type indexState struct {
	Aliases  map[string]any `json:"aliases"`
	Mappings struct {
		Dynamic    string            `json:"dynamic"`
		Properties map[string]object `json:"properties"`
		Meta       *copyNote         `json:"_meta"` // nil for an index that Rebuild has not made
	} `json:"mappings"`
	Settings struct {
		Index struct {
			UUID     string `json:"uuid"`
			Shards   string `json:"number_of_shards"`
			Replicas string `json:"number_of_replicas"`
			Translog struct {
				Durability string `json:"durability"`
			} `json:"translog"`
		} `json:"index"`
	} `json:"settings"`
}

// copyNote is the note of Rebuild in the mapping of an index.
type copyNote struct {
	Of string `json:"of,omitempty"` // the id of the index that it copies
	// The following two are set when the copy is complete. Identity is the id by which generations name it: that of the
	// first index, from which the first copy was made. It counts only if Index is the index's own id: one that the
	// server restored from a snapshot has another id.
	Index    string `json:"index,omitempty"`
	Identity string `json:"identity,omitempty"`
	Replaced bool   `json:"replaced,omitempty"` // a copy has taken its place; it is not written any more
}

// onlyIdentity leaves out what id, identity and the aliases do not need.
var onlyIdentity = url.Values{"filter_path": {"*.aliases,*.settings.index.uuid,*.mappings._meta"}}

func (s indexState) id() string { return s.Settings.Index.UUID }

// identity is the id by which generations name the index.
func (s indexState) identity() string {
	if s.isCopy() {
		return s.Mappings.Meta.Identity
	}
	return s.id()
}

// isCopy reports whether the index is a complete copy of another one.
func (s indexState) isCopy() bool { return s.Mappings.Meta != nil && s.Mappings.Meta.Index == s.id() }

// isUnfinished reports whether the index is an incomplete copy.
func (s indexState) isUnfinished() bool {
	return s.Mappings.Meta != nil && s.Mappings.Meta.Of != "" && s.Mappings.Meta.Index == ""
}

// isReplaced reports whether a copy has taken the place of the index.
func (s indexState) isReplaced() bool { return s.Mappings.Meta != nil && s.Mappings.Meta.Replaced }

// indexStates are indices by their names.
type indexStates map[string]indexState

// statesOf returns the indices that are, were or will be that of an alias.
func (x *Index) statesOf(ctx context.Context, index string) (all indexStates, err error) {
	err = x.client.do(ctx, call{method: http.MethodGet, path: x.prefix + index + "-*", query: onlyIdentity, answer: &all})
	for name := range all {
		if name != x.prefix+index+"-"+strconv.Itoa(numberOf(name)) { // of somebody else, such as leasehold-files-old-2
			delete(all, name)
		}
	}
	return all, err
}

// numberOf returns the number at the end of an index's name; 0 if there is none.
func numberOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return 0
	}
	return n
}

// newest returns the index with the highest number, without unfinished copies and indices that copies have replaced; ""
// if there is none.
func (all indexStates) newest() (name string) {
	for n, s := range all {
		if !s.isUnfinished() && !s.isReplaced() && numberOf(n) > numberOf(name) {
			name = n
		}
	}
	return name
}

// nextNumber returns a number that none of the indices has.
func (all indexStates) nextNumber() string {
	highest := 0
	for name := range all {
		highest = max(highest, numberOf(name))
	}
	return strconv.Itoa(highest + 1)
}
