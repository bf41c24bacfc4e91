package clips

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/mmcdole/gofeed"

	"leasehold/models"
)

// prefix returns the start of an origin's digests. It has the origin's settings for its
// recordings, so that a change of them makes the digest differ.
func prefix(o models.Origin) string { return fmt.Sprintf("priority %d, ", o.Priority) }

// feedDigest depends on the set of a feed's items only, not on their order or on other
// elements.
func feedDigest(items []*gofeed.Item) string {
	names := map[string]bool{}
	for _, item := range items {
		var enclosures string
		for _, e := range item.Enclosures {
			enclosures += e.URL + " " + e.Length + " "
		}
		names[fmt.Sprintf("%q %q %q %q", cmp.Or(item.GUID, item.Link), item.Title, item.Updated, enclosures)] = true
	}
	return "items:" + hashOf(slices.Sorted(maps.Keys(names)))
}

// feedTimes returns when a feed's items were published, the latest first, at most
// models.MaxChanges. Items without a time are left out.
func feedTimes(items []*gofeed.Item) []time.Time {
	var times []time.Time
	for _, item := range items {
		if t := aired(item); !t.IsZero() {
			times = append(times, t)
		}
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[:min(len(times), models.MaxChanges)]
}

// digest returns the root of a Merkle tree over the folder: a file has its path, size and time, a folder its
// entries. Only recordings and sidecars count, and the problems of the walk, so that a visit reports new ones; a file
// removed since the walk counts as missing. The root is "." and is there also without files.
func (v *folderVisit) digest() string {
	tree := map[string][]string{} // by folder
	for _, name := range slices.Concat(v.recordings, slices.Sorted(maps.Keys(v.sidecars))) {
		state := "gone"
		if info, err := v.root.Stat(name); err == nil {
			state = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
		tree[path.Dir(name)] = append(tree[path.Dir(name)], fmt.Sprintf("%q %s", path.Base(name), state))
	}
	for dir := range maps.Keys(maps.Clone(tree)) { // folders that hold only folders
		for dir != "." {
			dir = path.Dir(dir)
			if _, known := tree[dir]; !known {
				tree[dir] = nil // so that the loop below hashes it
			}
		}
	}
	// Every folder but "." sorts before the folders in it, so in backward order it is hashed after
	// them. "." may come before folders such as "#x", and is hashed after the loop. Its entries have
	// an order that depends only on their names and states, which is all that a digest needs.
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(tree))) {
		slices.Sort(tree[dir])
		if dir != "." {
			up := path.Dir(dir)
			tree[up] = append(tree[up], fmt.Sprintf("%q tree %s", path.Base(dir), hashOf(tree[dir])))
		}
	}
	for _, p := range v.problems.all() {
		tree["."] = append(tree["."], fmt.Sprintf("%q problem %q", p.Item, p.Reason))
	}
	return "tree:" + hashOf(tree["."])
}

// hashOf returns a hash of parts, each with its length, so that parts cannot run together.
func hashOf(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
