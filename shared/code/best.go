package code

import (
	"cmp"
	"slices"
	"strings"
)

// Best keeps the first Limit items that are added, in the order of Compare. Compare tells all items
// apart.
type Best[T any] struct {
	Limit   int
	Compare func(a, b T) int
	Items   []T // in order
}

// Takes reports whether Add would keep an item.
func (b *Best[T]) Takes(item T) bool {
	return len(b.Items) < b.Limit || b.Limit > 0 && b.Compare(item, b.Items[b.Limit-1]) < 0
}

// Add keeps an item if it is one of the first.
func (b *Best[T]) Add(item T) {
	if !b.Takes(item) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.Items, item, b.Compare)
	b.Items = slices.Insert(b.Items, at, item)
	b.Items = b.Items[:min(len(b.Items), b.Limit)]
}

// RankedAmong returns how many matches a search with these options ranks.
func (o Options) RankedAmong() int {
	if o.Limit > 0 {
		return min(o.Limit, RankedMatches)
	}
	return RankedMatches
}

// CompareMatches orders matches as a search ranks them: by score, the highest first, then by
// repository, path and line, then by content.
func CompareMatches(a, b Match) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.RepoID, b.RepoID),
		strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.OID, b.OID))
}
