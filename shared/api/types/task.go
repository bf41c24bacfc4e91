package types

import (
	"encoding/json"
	"time"

	"leasehold/models"
)

// Task is a task: alive, ended or a dead letter.
type Task struct {
	ID              string         `json:"id"`
	Action          string         `json:"action"`
	State           string         `json:"state" enum:"waiting,delayed,blocked,paused,claimed,resolved,dead,cancelled"`
	Subject         string         `json:"subject,omitempty" doc:"what it is about"`
	Parts           []string       `json:"parts,omitempty" doc:"of the subject"`
	Lease           string         `json:"lease,omitempty" doc:"id; only a manager ends a task under a lease"`
	Priority        int64          `json:"priority" doc:"higher is sooner"`
	Timeout         models.Seconds `json:"timeout" doc:"seconds of one attempt, since it was claimed, extended or reported on"`
	Attempts        int64          `json:"attempts" doc:"that failed"`
	Lost            int64          `json:"lost,omitempty" doc:"how often its worker was lost; after two times it is done by a worker that does nothing else meanwhile"`
	Claimants       []string       `json:"claimants" doc:"workers that gave it back"`
	CurrentClaimant *string        `json:"current_claimant" doc:"the worker that has it; null: none has"`
	Session         string         `json:"session,omitempty" doc:"of the worker that has it"`
	CreatedAt       time.Time      `json:"created_at,omitzero"`
	ClaimedAt       *time.Time     `json:"claimed_at" doc:"by the worker that has it, or that ended it; null: none"`
	TaskOptions
	Progress *models.Progress `json:"progress,omitempty" doc:"that the worker noted"`
	Why      *Why             `json:"why,omitempty" doc:"why a task that is alive is not running"`
	Note     string           `json:"note,omitempty" doc:"why it waits, or how it ended"`
	History  []models.Attempt `json:"history,omitempty" doc:"the attempts that failed, the latest at the end; of a resolved task also the attempt that resolved it, without an error, if that printed something"`
	EndedAt  time.Time        `json:"ended_at,omitzero" doc:"when it was resolved, cancelled, or discarded as a dead letter; of a dead letter, when it died"`
	Duration *models.Seconds  `json:"duration,omitempty" doc:"seconds of the attempt that ended it; absent: no worker had it then"`
	Worker   string           `json:"worker,omitempty" doc:"that had it when it ended"`
	Result   json.RawMessage  `json:"result,omitempty" doc:"of a resolved task; absent in lists, and if a manager stored it in the catalog (under a lease)"`
	Data     json.RawMessage  `json:"data,omitempty" doc:"for the handler; absent in lists, and of an ended task if larger than 4 KiB"`
	Trace    string           `json:"trace,omitempty" doc:"the span that created it, as the header traceparent of W3C Trace Context; absent: the request that created it had none"`
	Existing bool             `json:"existing,omitempty" doc:"in the answer to a create: the unique key was taken, and this older task has it"`
}

// HasEnded reports whether a task is resolved, cancelled or dead.
func (t Task) HasEnded() bool {
	return t.State == "resolved" || t.State == "cancelled" || t.State == "dead"
}

// IsResolvedBy reports whether attempt n of the history resolved the task. All others failed.
func (t Task) IsResolvedBy(n int) bool {
	if t.State != "resolved" || t.ClaimedAt == nil || n < 0 || n != len(t.History)-1 {
		return false
	}
	last := t.History[n]
	return last.Error == "" && last.ClaimedAt.Equal(*t.ClaimedAt)
}

// TaskOptions are what the creator of a task may demand.
type TaskOptions struct {
	NotBefore   time.Time      `json:"not_before,omitzero" doc:"no worker gets it earlier"`
	ExpiresAt   time.Time      `json:"expires_at,omitzero" doc:"it is dead if no worker has it then"`
	MaxAttempts int64          `json:"max_attempts,omitempty" doc:"number of failed attempts after which the task becomes a dead letter, 1 to 1000; if absent or 0, the setting max-attempts plus 1" schema:"minimum: 0, maximum: 1000"`
	Backoff     models.Seconds `json:"backoff,omitempty" doc:"seconds after an attempt that failed; if absent, another worker may try at once" schema:"minimum: 0, maximum: 2592000"`
	UniqueKey   string         `json:"unique_key,omitempty" doc:"of at most one task that is alive" schema:"name"`
	Group       string         `json:"group,omitempty" doc:"groups of tasks of equal priority take turns" schema:"name"`
	Tags        []string       `json:"tags,omitempty" schema:"uniqueItems: true, maxItems: 16, items: someName"`
	ResultTuple bool           `json:"result_tuple,omitempty" doc:"put the result into the space result"`
	ResultTTL   models.Seconds `json:"result_ttl,omitempty" doc:"with result_tuple only: seconds that this tuple stays; 3600 if 0; without effect if result_tuple is false" schema:"minimum: 0, maximum: 2592000"`
	After       []string       `json:"after,omitempty" doc:"its parents: ids, or the refs of tasks of the same request" schema:"uniqueItems: true, maxItems: 64, items: someName"`
	OnFailure   string         `json:"on_failure,omitempty" doc:"with after only, and without effect if that is empty; fail (the default): it is dead if a parent does not resolve; run: it runs anyway" schema:"enum: ['', fail, run]"`
	Limits      []string       `json:"limits,omitempty" doc:"names of limits" schema:"uniqueItems: true, maxItems: 8, items: someName"`
	OnLimit     string         `json:"on_limit,omitempty" doc:"with limits only, and without effect if that is empty; if a limit has no free slot: wait (the default), cancel_running or drop" schema:"enum: ['', wait, cancel_running, drop]"`
}

// Why is the reason why a task is not running.
type Why struct {
	Code string `json:"code" doc:"such as paused, not_due, limit, no_worker"`
	Text string `json:"text"`
}

// NewTask is the body that creates a task.
type NewTask struct {
	Action   string          `json:"action" doc:"an id" schema:"id"`
	Subject  string          `json:"subject,omitempty"`
	Data     json.RawMessage `json:"data,omitempty" doc:"for the handler of the action"`
	Priority int64           `json:"priority,omitempty"`
	Timeout  *models.Seconds `json:"timeout,omitempty" doc:"of one attempt; 600 if absent" schema:"exclusiveMinimum: 0, maximum: 2592000"`
	TaskOptions
	Ref        string `json:"ref,omitempty" doc:"a name for after, within the request" schema:"pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]{0,200}$'"`
	OnConflict string `json:"on_conflict,omitempty" doc:"with unique_key only, and without effect if that is empty; if the key is taken: keep (the default) returns that task, replace changes its data and time, or leaves one successor of a claimed one" schema:"enum: ['', keep, replace]"`

	_ struct{} `needs:"on_conflict=unique_key,on_failure=after,on_limit=limits,result_ttl=result_tuple,result_tuple=result_ttl"`
}

// NewTasks is the body that creates several tasks, all or none.
type NewTasks struct {
	Tasks []NewTask `json:"tasks" doc:"1 to 1000" schema:"minItems: 1, maxItems: 1000"`
}

// Tasks is one page of a list of tasks.
type Tasks struct {
	Items []Task `json:"items"`
	Next  string `json:"next,omitempty" doc:"cursor of the next page; absent: there is none"`
}

// Cancel is the body that cancels a task.
type Cancel struct {
	Reason string `json:"reason,omitempty" doc:"for people"`
}

// Requeued is the response to requeueing a dead letter: its work can be selected again
// under a new lease, or the task was put again.
type Requeued struct {
	Selectable bool  `json:"selectable" doc:"its work is selected again, under a new lease"`
	Task       *Task `json:"task,omitempty" doc:"the task that was put, if the work is not selectable"`
}

// Limit bounds the tasks that name it.
type Limit struct {
	Name    string  `json:"name"`
	Max     int64   `json:"max" doc:"tasks that may be claimed at a time; 0: any number"`
	Rate    float64 `json:"rate" doc:"tasks that may be claimed in a second; 0: any number"`
	Running int64   `json:"running" doc:"claimed tasks that name it"`
	Waiting int64   `json:"waiting" doc:"tasks that wait for a slot of it"`
}

// NewLimit is the body that sets a limit.
type NewLimit struct {
	Max  int64   `json:"max,omitempty" doc:"tasks that may be claimed at a time; 0: any number" schema:"minimum: 0"`
	Rate float64 `json:"rate,omitempty" doc:"tasks that may be claimed in a second; 0: any number; else at least 0.000001" schema:"minimum: 0, maximum: 1000000, not: {exclusiveMinimum: 0, exclusiveMaximum: 0.000001}"`

	_ struct{} `least:"1"`
}
