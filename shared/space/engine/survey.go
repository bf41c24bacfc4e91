package engine

import (
	"slices"

	"leasehold/shared/space"
)

var _ space.Surveyor = (*transaction)(nil)

// Survey implements space.Surveyor.
func (tx *transaction) Survey(name string, held bool, keep func(space.Entry) bool) []space.Entry {
	r := tx.e.rooms[name]
	if r == nil {
		return nil
	}
	indexes := []*index{&r.visible}
	if held {
		indexes = append(indexes, &r.held)
	}
	var found []*entry
	for _, x := range indexes {
		for _, b := range x.buckets {
			b.all.all(func(e *entry) bool {
				if keep(view(e)) {
					found = append(found, e)
				}
				return true
			})
		}
	}
	slices.SortFunc(found, func(a, b *entry) int { return r.rank(a).compare(r.rank(b)) })
	return views(found)
}
