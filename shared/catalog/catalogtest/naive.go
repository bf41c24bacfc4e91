package catalogtest

import (
	"cmp"
	"slices"

	"leasehold/models"
)

// naive is a catalog for comparison: it keeps everything in maps and answers
// by looking at all of it. It knows one origin of episodes and one of clips.
type naive struct {
	episodes, clips map[string]*naiveRecording // by name
	visits          int
}

type naiveRecording struct {
	name, version, hash string
	priority            int64
	first               int
	gone, problem       bool
	known               bool            // of an episode: this version was researched for a clip
	researched, failed  map[string]bool // of an episode: by the clip's name
}

func newNaive() *naive {
	return &naive{episodes: map[string]*naiveRecording{}, clips: map[string]*naiveRecording{}}
}

// curate records a complete listing of either kind: what it does not name is gone, and a
// recording of another version loses its research.
func (n *naive) curate(isClip bool, list []models.Recording) {
	n.visits++
	known := n.episodes
	if isClip {
		known = n.clips
	}
	for _, r := range known {
		r.gone = !slices.ContainsFunc(list, func(l models.Recording) bool { return l.Name == r.name })
	}
	for _, l := range list {
		r := known[l.Name]
		if r == nil {
			r = &naiveRecording{name: l.Name, first: n.visits}
			known[l.Name] = r
		}
		if r.version != l.Media.Version {
			r.version, r.hash, r.problem, r.known = l.Media.Version, "", false, false
			r.researched, r.failed = map[string]bool{}, map[string]bool{}
			if isClip {
				n.forgetClip(r.name)
			}
		}
		r.priority, r.hash = l.Priority, cmp.Or(l.Media.Hash, r.hash)
	}
}

// forgetClip removes the results of a clip, because its content is another now.
func (n *naive) forgetClip(name string) {
	for _, e := range n.episodes {
		delete(e.researched, name)
		delete(e.failed, name)
	}
}

// duplicate reports whether an older clip has the content of c.
func (n *naive) duplicate(c *naiveRecording) bool {
	for _, o := range n.clips {
		older := cmp.Or(cmp.Compare(o.first, c.first), cmp.Compare(clipID(o.name), clipID(c.name))) < 0
		if c.hash != "" && o.hash == c.hash && !o.gone && older {
			return true
		}
	}
	return false
}

// left lists the clips to select for an episode, in order: none if the episode is gone or has a
// problem, and none if it has busy clips before any clip was researched in this version, because
// one worker should decode it first.
func (n *naive) left(e *naiveRecording, busy map[[2]string]bool) []string {
	if e.gone || e.problem {
		return nil
	}
	for pair := range busy {
		if pair[0] == e.name && !e.known {
			return nil
		}
	}
	var list []*naiveRecording
	for _, c := range n.clips {
		done := e.researched[c.name] || e.failed[c.name]
		if !c.gone && !c.problem && !n.duplicate(c) && !done && !busy[[2]string{e.name, c.name}] {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, inOrder(clipID))
	return each(list, func(c *naiveRecording) string { return c.name })
}

// selects returns the episode to research next and its clips, none if nothing
// is left.
func (n *naive) selects(busy map[[2]string]bool, limit int) (string, []string) {
	var list []*naiveRecording
	for _, e := range n.episodes {
		list = append(list, e)
	}
	slices.SortFunc(list, inOrder(titleOf))
	for _, e := range list {
		if clips := n.left(e, busy); len(clips) > 0 {
			return e.name, clips[:min(limit, len(clips))]
		}
	}
	return "", nil
}

// inOrder compares recordings as Select does: by priority, the highest first, then those first
// listed later, then by tie: episodes by title, as none has a date here, and clips by id.
func inOrder(tie func(string) string) func(a, b *naiveRecording) int {
	return func(a, b *naiveRecording) int {
		return cmp.Or(-cmp.Compare(a.priority, b.priority), -cmp.Compare(a.first, b.first), cmp.Compare(tie(a.name), tie(b.name)))
	}
}

// ingest records a result for one clip; scope is "" for one without a problem. A result for
// another version than the present one changes nothing that it was not about, and a failure never
// replaces a success.
func (n *naive) ingest(w naiveWork, scope models.Scope) {
	e, c := n.episodes[w.episode], n.clips[w.clip]
	eCurrent, cCurrent := e.version == w.episodeVersion, c.version == w.clipVersion
	switch {
	case scope == models.ScopeEpisode:
		e.problem = e.problem || eCurrent
	case scope == models.ScopeClip:
		c.problem = c.problem || cCurrent
	case !eCurrent || !cCurrent:
	case scope == "" || scope == models.ScopePart:
		e.researched[c.name], e.known = true, true
		delete(e.failed, c.name)
	case !e.researched[c.name]:
		e.failed[c.name] = true
	}
}

// naiveWork is one pair as it was when it was selected.
type naiveWork struct{ episode, episodeVersion, clip, clipVersion string }
