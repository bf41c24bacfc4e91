package models

import (
	"maps"
	"slices"
	"time"
)

// Lease is a manager's timed right to some parts of a subject.
type Lease struct {
	ID       string
	Holder   string
	Subject  string
	Parts    []string // sorted
	Deadline time.Time
	Token    int64
}

// Failure is the body of the result that a dead task leaves, so that a manager records
// a problem of its subject.
type Failure struct {
	Problem string `json:"problem"`
	Task    *Task  `json:"task"`
}

// Research is the data of a research task: find each of the clips in the
// episode. With Episodes it is a sweep instead, and Episode is empty: find the one clip in each of
// these episodes, because the worker may have their landmarks.
type Research struct {
	Episode  ResearchItem   `json:"episode"`
	Clips    []ResearchItem `json:"clips"`
	Episodes []ResearchItem `json:"episodes,omitempty" doc:"of a sweep: the episodes in which the one clip is to be found; episode is empty then"`
	Waveform bool           `json:"waveform,omitempty" doc:"the catalog has no waveform of the episode, so the first result should have it"`
}

// Work returns the subject and the parts of a research task: the episode and its clips, or the clip of
// a sweep and its episodes.
func (r Research) Work() (subject string, parts []string) {
	subject, items := r.Episode.ID, r.Clips
	if len(r.Episodes) > 0 && len(r.Clips) == 1 {
		subject, items = r.Clips[0].ID, r.Episodes
	}
	for _, i := range items {
		parts = append(parts, i.ID)
	}
	return subject, parts
}

// Pairs returns a research task of each episode of a sweep, in their order; any other task is its only pair.
func (r Research) Pairs() []Research {
	if len(r.Episodes) == 0 {
		return []Research{r}
	}
	all := make([]Research, len(r.Episodes))
	for i, e := range r.Episodes {
		all[i] = Research{Episode: e, Clips: r.Clips}
	}
	return all
}

// ResearchItem is the fields of one recording that a worker needs.
type ResearchItem struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Media MediaRef `json:"media"`
}

// Cost sums up the costs of tasks of one action that were done in one way.
type Cost struct {
	Action  string  `json:"action"`
	How     string  `json:"how" doc:"of research: known (from a kept fingerprint) or decoded (the episode was fetched and decoded)"`
	Tasks   int64   `json:"tasks"`
	Wall    Seconds `json:"wall_s" doc:"seconds from claim to end"`
	CPU     Seconds `json:"cpu_s" doc:"processor seconds of the workers' processes, and of the processes they started"`
	Windows int64   `json:"windows" doc:"windows of kept audio that were read to verify candidates"`
}

// Scope is the subject of a problem of research.
type Scope string

// The scopes of a research problem.
const (
	ScopePair    Scope = "pair"    // this clip in this episode
	ScopeEpisode Scope = "episode" // the episode, with every clip
	ScopeClip    Scope = "clip"    // the clip, in every episode
	// ScopePart: a part of the episode could not be read. The result has the findings in the rest,
	// and later clips are looked for there too.
	ScopePart Scope = "part"
)

// Retry is when a recording with a problem is tried again without being asked for.
type Retry string

// The cases of Retry.
const (
	RetryNever Retry = "" // its content is the reason
	// RetryLater: it could not be fetched. It is fetched again after a pause, which grows with each
	// failure, and at once when a visit finds that its server answers or has changed.
	RetryLater Retry = "later"
	// RetryChanged: the settings of the worker refuse it. Only what a visit finds, or an operator, has
	// it fetched again.
	RetryChanged Retry = "changed"
)

// Researched is the body of a result of research: the findings of one clip in one
// episode, or a problem of one or several clips; with ScopePart it may be both. A result with
// neither means that the clip does not occur.
type Researched struct {
	Episode  string    `json:"episode"`
	Clips    []string  `json:"clips"`
	Findings []Finding `json:"findings,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Scope    Scope     `json:"scope,omitempty" schema:"enum: ['', pair, episode, clip, part]"` // with a problem
	// Retry is set with a problem of an episode or of clips: they could not be fetched.
	Retry Retry `json:"retry,omitempty" schema:"enum: ['', later, changed]"`
	// RetryAfter is how long the server asks to be left alone; 0: it does not ask.
	RetryAfter Seconds `json:"retry_after_s,omitempty"`
	// Versions of the media that were searched. The catalog ignores a result for
	// other versions than its own, because the recording has changed since.
	EpisodeMedia MediaRef            `json:"episode_media"`
	ClipMedia    map[string]MediaRef `json:"clip_media,omitempty"`
	Waveform     *Waveform           `json:"waveform,omitempty"` // of the episode; nil: the worker did not draw it
}

// Swept is the body of a result of a sweep: the findings of one clip in some of the episodes.
type Swept struct {
	Clip      string              `json:"clip"`
	ClipMedia MediaRef            `json:"clip_media"`
	Episodes  map[string]MediaRef `json:"swept"` // the episodes searched, by id
	Findings  []Finding           `json:"findings,omitempty"`
	Problems  map[string]string   `json:"problems,omitempty"` // of the clip in one episode, by the episode's id
	// Problem is the problem of the clip, in every episode; no episode was searched then.
	Problem    string  `json:"problem,omitempty"`
	Retry      Retry   `json:"retry,omitempty"`         // see Researched
	RetryAfter Seconds `json:"retry_after_s,omitempty"` // see Researched
	// Less is true in the last result if the worker could search less than half of the episodes
	// of the task without decoding them; the others are left to tasks of their own.
	Less bool `json:"less,omitempty"`
}

// Fault returns the problem of the clip, or "".
func (s Swept) Fault() string { return s.Problem }

// Results returns the result of each episode that was searched, by id. A problem of the clip is a
// problem of each.
func (s Swept) Results() []Researched {
	byEpisode := map[string][]Finding{}
	for _, f := range s.Findings {
		byEpisode[f.Episode] = append(byEpisode[f.Episode], f)
	}
	var all []Researched
	for _, id := range slices.Sorted(maps.Keys(s.Episodes)) {
		r := Researched{
			Episode: id, Clips: []string{s.Clip}, Findings: byEpisode[id], EpisodeMedia: s.Episodes[id], ClipMedia: map[string]MediaRef{s.Clip: s.ClipMedia},
		}
		switch {
		case s.Problem != "":
			r.Problem, r.Scope, r.Retry, r.RetryAfter = s.Problem, ScopeClip, s.Retry, s.RetryAfter
		case s.Problems[id] != "":
			r.Problem, r.Scope = s.Problems[id], ScopePair
		}
		all = append(all, r)
	}
	return all
}

// Fault returns the problem of the input, or "" if there is none or it concerns only a part of
// the episode.
func (r Researched) Fault() string {
	if r.Scope == ScopePart {
		return ""
	}
	return r.Problem
}
