package models

import (
	"encoding/json"
	"time"
)

// Task is one unit of work for one worker.
type Task struct {
	ID              string          `json:"id"`
	Action          string          `json:"action"`
	Subject         string          `json:"subject"`         // such as an episode's id
	Parts           []string        `json:"parts,omitempty"` // of the subject, such as clips' ids; sorted
	Data            json.RawMessage `json:"data,omitempty"`  // for the handler of the action
	Timeout         Seconds         `json:"timeout"`
	QueueTTL        Seconds         `json:"queue_ttl,omitempty"` // how long it may wait; 0: for ever
	Claimants       []string        `json:"claimants,omitempty"` // names of the workers that gave it back
	Hosts           []string        `json:"hosts,omitempty"`     // machines of the claimants
	CurrentClaimant string          `json:"current_claimant,omitempty"`
	Attempts        int64           `json:"attempts"`
	Lost            int64           `json:"lost,omitempty"`    // how often its worker was lost
	State           string          `json:"state,omitempty"`   // the reason why it waits, for people
	History         []Attempt       `json:"history,omitempty"` // the attempts that failed, the latest at the end
	CreatedAt       time.Time       `json:"created_at"`
	ClaimedAt       time.Time       `json:"claimed_at,omitzero"`
	TaskOptions
	Progress *Progress `json:"progress,omitempty"` // of the attempt; nil: none was noted
}

// TaskOptions are what the creator of a task may demand. The zero TaskOptions demand
// nothing.
type TaskOptions struct {
	NotBefore   time.Time `json:"not_before,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`    // if it is not claimed by then, it is dead
	MaxAttempts int64     `json:"max_attempts,omitempty"` // 0: the coordinator's
	Backoff     Seconds   `json:"backoff,omitempty"`      // after each attempt that failed; 0: the coordinator's rule
	UniqueKey   string    `json:"unique_key,omitempty"`   // of at most one live task
	Group       string    `json:"group,omitempty"`        // groups take turns within a priority
	Tags        []string  `json:"tags,omitempty"`
	ResultTuple bool      `json:"result_tuple,omitempty"` // put the result into the space "result"
	ResultTTL   Seconds   `json:"result_ttl,omitempty"`   // of that tuple
	After       []string  `json:"after,omitempty"`        // ids of its parents, which must end before it
	OnFailure   string    `json:"on_failure,omitempty"`   // FailWithParent or RunAnyway
	Limits      []string  `json:"limits,omitempty"`       // names of limits
	OnLimit     string    `json:"on_limit,omitempty"`     // WaitForLimit, CancelRunning or Drop
	Trace       string    `json:"trace,omitempty"`        // the span that creates it, as the traceparent of W3C Trace Context
}

// What becomes of a task whose parent did not resolve.
const (
	FailWithParent = "fail" // it is dead; the default
	RunAnyway      = "run"
)

// What a task does whose limit has no free slot.
const (
	WaitForLimit  = "wait" // the default
	CancelRunning = "cancel_running"
	Drop          = "drop"
)

// Attempt is one attempt of a task that failed, or the one that resolved it if that printed something: it has no error.
type Attempt struct {
	Worker    string    `json:"worker"` // its name
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Error     string    `json:"error"`
	Output    string    `json:"output,omitempty"` // the last lines
}

// String returns the worker and the error.
func (a Attempt) String() string { return a.Worker + ": " + a.Error }

// Errors returns the attempts as text.
func Errors(history []Attempt) []string {
	all := make([]string, len(history))
	for n, a := range history {
		all[n] = a.String()
	}
	return all
}

// Progress is what a worker noted about its attempt.
type Progress struct {
	Fraction float64 `json:"fraction"` // 0 to 1
	Text     string  `json:"text,omitempty"`
}
