package models

import (
	"encoding/json"
	"time"
)

// Task is the body of a task tuple: one unit for one worker.
type Task struct {
	ID              string          `json:"id"`
	Action          string          `json:"action"`
	Subject         string          `json:"subject"`         // such as an episode's id
	Parts           []string        `json:"parts,omitempty"` // of the subject, such as clips' ids; sorted
	Data            json.RawMessage `json:"data,omitempty"`  // for the handler of the action
	Timeout         Seconds         `json:"timeout"`
	QueueTTL        Seconds         `json:"queue_ttl,omitempty"` // how long it may wait; 0: for ever
	Claimants       []string        `json:"claimants,omitempty"` // workers that gave it back
	CurrentClaimant string          `json:"current_claimant,omitempty"`
	Attempts        int64           `json:"attempts"`
	State           string          `json:"state,omitempty"`   // the reason why it waits, for people
	History         []string        `json:"history,omitempty"` // how each attempt ended
	CreatedAt       time.Time       `json:"created_at"`
	ClaimedAt       time.Time       `json:"claimed_at,omitzero"`
}

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
// episode.
type Research struct {
	Episode ResearchItem   `json:"episode"`
	Clips   []ResearchItem `json:"clips"`
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
)

// Researched is the body of a result of research: the findings of one clip in one
// episode, or a problem of one or several clips. A result with neither means that the
// clip does not occur.
type Researched struct {
	Episode  string    `json:"episode"`
	Clips    []string  `json:"clips"`
	Findings []Finding `json:"findings,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Scope    Scope     `json:"scope,omitempty"` // with a problem
	// Versions of the media that were searched. The catalog ignores a result for
	// other versions than its own, because the recording has changed since.
	EpisodeMedia MediaRef            `json:"episode_media"`
	ClipMedia    map[string]MediaRef `json:"clip_media,omitempty"`
}

// Fault returns the problem of the input, or "" if there is none.
func (r Researched) Fault() string { return r.Problem }
