package set

// Part returns the set with at most that many clips and episodes, for methods that are
// too slow for the whole set. 0 means all. The clips are taken evenly. Insertions of the
// other clips do not count as misses, and the part keeps all clips in Left: a finding where one of them is
// played is not wrong. The set must not be a part itself.
func (s *Set) Part(clips, episodes int) *Set {
	p := *s
	if clips > 0 && clips < len(s.Clips) {
		p.Clips, p.Left = nil, s.Clips
		for i := range clips {
			p.Clips = append(p.Clips, s.Clips[i*len(s.Clips)/clips])
		}
	}
	if episodes > 0 && episodes < len(s.Episodes) {
		p.Episodes = s.Episodes[:episodes]
	}
	there := map[string]bool{}
	for _, c := range p.Clips {
		there[c.ID] = true
	}
	p.Episodes = append([]Episode(nil), p.Episodes...)
	for i := range p.Episodes {
		e := &p.Episodes[i]
		var played []Insertion
		for _, in := range e.Played {
			if there[in.Clip] {
				played = append(played, in)
			} else {
				e.Others = append(e.Others, in)
			}
		}
		e.Played = played
	}
	return &p
}
