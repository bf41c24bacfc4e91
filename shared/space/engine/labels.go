package engine

// labels finds entries by their labels, in the order of the kind. Most labels have one
// entry, for which an order would waste memory.
type labels struct {
	rank func(*entry) key
	sets map[string]labelled
}

// labelled are the entries with one label: one, or a whole order.
type labelled struct {
	one   *entry
	order *order[*entry] // nil: there is one entry
}

func (s labelled) candidates() candidates {
	return candidates{one: s.one, order: s.order, same: true}
}

// labelsOf returns the labels of an entry; nil if it has none.
func labelsOf(e *entry) []string {
	if e.Attributes == nil {
		return nil
	}
	return e.Attributes.Labels
}

// add adds an entry; its labels and place must not change while it is here. An entry that has a
// label twice is added once.
func (l *labels) add(e *entry) {
	for _, name := range labelsOf(e) {
		s := l.sets[name]
		switch {
		case s.order == nil && (s.one == nil || s.one == e):
			s.one = e
		case s.order == nil:
			s.order = newOrder(l.rank)
			s.order.insert(s.one)
			s.one = nil
			fallthrough
		default:
			s.order.insert(e)
		}
		l.sets[name] = s
	}
}

// remove removes an entry that add added with the same labels; another one would remove the only
// entry of a label. A label without entries takes no memory.
func (l *labels) remove(e *entry) {
	for _, name := range labelsOf(e) {
		s := l.sets[name]
		if s.order != nil {
			if s.order.remove(e); s.order.len() > 0 {
				continue
			}
		}
		delete(l.sets, name)
	}
}
