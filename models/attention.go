package models

import (
	"encoding/json"
	"time"
)

// Severity is how bad an attention item is.
type Severity string

// The severities, the worst first.
const (
	StopsWork Severity = "stops_work" // some work stands still until a person acts
	Degrades  Severity = "degrades"   // work goes on, but slower, or without some of its inputs
	ToKnow    Severity = "to_know"    // it may become worse, or explains what a person sees
)

// Severities are all severities, the worst first.
var Severities = []Severity{StopsWork, Degrades, ToKnow}

// String returns the severity in words.
func (s Severity) String() string {
	switch s {
	case StopsWork:
		return "stops work"
	case ToKnow:
		return "to know"
	}
	return string(s)
}

// Cause is why a person should look at something. A cause may have several items, such as one for each action.
type Cause string

// The causes.
const (
	CauseNoWorker     Cause = "no_worker"          // no live worker serves an action that has tasks
	CauseNoManager    Cause = "no_manager"         // origins are due, and no manager is connected
	CausePaused       Cause = "action_paused"      // an action is paused, and tasks wait
	CauseLost         Cause = "sessions_lost"      // sessions of a machine were lost lately
	CauseSuspect      Cause = "task_lost_twice"    // a task was held at two losses of its worker
	CauseDead         Cause = "dead_letters"       // dead letters of an action with one error
	CauseSlow         Cause = "slow_attempts"      // attempts that run far longer than others of their action
	CauseOwnFault     Cause = "worker_fault"       // a worker gives tasks back because of its own machine
	CauseRefused      Cause = "puts_refused"       // memory, disk or a full space refuse puts
	CauseNearBound    Cause = "near_bound"         // a space or an action is near its bound
	CauseNotWritable  Cause = "not_writable"       // the catalog or the journal cannot be written
	CauseSuspended    Cause = "coordinator_slept"  // the coordinator's process did not run for a time
	CauseHostRests    Cause = "host_rests"         // a host is not visited for a while
	CauseDisabled     Cause = "origins_disabled"   // origins that are not visited any more
	CauseBadClips     Cause = "bad_clips"          // clips that are silent, missing or cannot be used
	CauseEpisodes     Cause = "episodes_failed"    // episodes that failed for a reason that may pass
	CauseRunsLeft     Cause = "schedule_skips"     // a schedule leaves out runs
	CauseClocks       Cause = "clocks_differ"      // clocks of sessions differ from the coordinator's
	CauseVersions     Cause = "versions_differ"    // sessions of other versions than the coordinator's
	CauseIndex        Cause = "index_incomplete"   // the code index lacks files
	CauseSearchServer Cause = "search_server_away" // the code index waits for its search server
	CauseOpen         Cause = "unauthenticated"    // clients beyond this machine are not authenticated
	CauseInviteEnds   Cause = "invite_ends"        // processes without a disk can come back only by an invite that ends
	CauseDeviates     Cause = "deviates"           // the coordinator did what a model of its protocols forbids
	CauseUnchecked    Cause = "not_checked"        // the check of the trace is behind, or cannot check
	CauseUnknown      Cause = "unknown"            // a cause could not be checked, so the list may be incomplete
)

// Causes are all causes. Items of one severity are in this order.
var Causes = []Cause{
	CauseNotWritable, CauseRefused, CauseSearchServer, CauseDeviates, CauseNoWorker, CauseNoManager, CausePaused, CauseOwnFault, CauseSuspect, CauseLost, CauseDead, CauseSlow, CauseRunsLeft, CauseHostRests, CauseDisabled,
	CauseIndex, CauseEpisodes, CauseBadClips, CauseNearBound, CauseInviteEnds, CauseUnknown, CauseUnchecked, CauseSuspended, CauseClocks, CauseVersions, CauseOpen,
}

// Attention is one item: something that a person should look at. Its texts are valid UTF-8 without control
// characters, each bounded, and without users and passwords of URLs. They may have any other character, such as "<".
type Attention struct {
	ID       string    `json:"id" doc:"stays while the cause lasts"`
	Cause    Cause     `json:"cause" doc:"no_worker, action_paused, …: docs/attention.md lists them"`
	Severity Severity  `json:"severity" doc:"stops_work, degrades or to_know"`
	About    string    `json:"about,omitempty" doc:"the action, task, session, host, space or schedule that it is about"`
	Text     string    `json:"text" doc:"one sentence"`
	Detail   string    `json:"detail,omitempty" doc:"more about it, for people"`
	Since    time.Time `json:"since"`
	Count    int64     `json:"count" doc:"how many tasks, sessions, origins … it concerns"`
	Example  string    `json:"example,omitempty" doc:"one of them: the id of a task, a session, an origin or a recording"`
	Command  string    `json:"command" doc:"what to run"`
	Remedy   *Remedy   `json:"remedy,omitempty" doc:"an operation of this API that fixes it, or hides it once a person has seen it"`
}

// Remedy is an operation of the API that fixes the cause of an attention item.
type Remedy struct {
	Label     string            `json:"label" doc:"for a button"`
	Operation string            `json:"operation" doc:"operation id, such as resumeAction"`
	Params    map[string]string `json:"params,omitempty" doc:"parameters of the path and the query, by name"`
	Body      json.RawMessage   `json:"body,omitempty"`
	Count     int64             `json:"count,omitempty" doc:"how many items it changes, if several"`
	Lasting   bool              `json:"lasting,omitempty" doc:"it removes something, so a page asks first"`
	Request   string            `json:"request,omitempty" doc:"method and path with its parameters"`
}

// AttentionReport is the items at one time, the worst first.
type AttentionReport struct {
	At    time.Time   `json:"at" doc:"when they were computed; once a second while the coordinator runs"`
	Items []Attention `json:"items"`
	// All workers must write to this cluster.
	SearchCluster string `json:"search_cluster,omitempty" doc:"the id of the cluster that the coordinator's search server belongs to; absent if it has no search server, or has not reached it yet"`
}

// Worst returns the severity of the first item, which is the worst; empty if there is none.
func (r AttentionReport) Worst() Severity {
	if len(r.Items) == 0 {
		return ""
	}
	return r.Items[0].Severity
}

// LostSession is a session whose heartbeats stopped.
type LostSession struct {
	ID, Name, Host string
	At             time.Time
	Tasks          []string // that it held
}
