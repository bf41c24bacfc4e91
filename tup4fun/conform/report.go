package conform

import (
	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes.
const (
	Conforms   Outcome = "conforms"
	Violates   Outcome = "violates"
	Incomplete Outcome = "incomplete" // a bound was reached, the map does not know a procedure, or no event was checked
)

// Report is the result of checking one log.
type Report struct {
	Model     string     `json:"model"`
	Map       string     `json:"map"`
	Trace     string     `json:"trace"`
	Outcome   Outcome    `json:"outcome"`
	Reason    string     `json:"reason,omitempty"`  // for Incomplete
	Unknown   []string   `json:"unknown,omitempty"` // procedures in the spaces of the map that no rule names
	Events    int        `json:"events"`            // read
	Explained int        `json:"explained"`         // of them, covered by a rule with actions
	Reloads   int        `json:"reloads"`
	Instances int        `json:"instances"`
	States    int        `json:"states"` // of the model, explored
	Within    int        `json:"within"` // instances that the log leaves in the middle of a step
	Torn      bool       `json:"torn"`   // the last line is incomplete
	Unseen    []Unseen   `json:"unseen"` // operations of the model that the log never showed
	Unused    []int      `json:"unused"` // lines of the rules that covered no event
	Violation *Violation `json:"violation,omitempty"`
}

// Unseen is an operation of the model that no event showed.
type Unseen struct {
	Process string     `json:"process"`
	Pos     syntax.Pos `json:"position"`
	Text    string     `json:"text"`
}

// Violation is the first event that no step of the model explains.
type Violation struct {
	Why      string         `json:"why"`
	Line     int            `json:"line"`
	Event    trace.Event    `json:"event"`
	InModel  string         `json:"in_model,omitempty"` // the event as actions of the model
	Instance string         `json:"instance,omitempty"`
	Allowed  []Allowed      `json:"allowed"` // next actions of the model
	Last     []Seen         `json:"last"`    // earlier events of the instance
	State    explore.Config `json:"state"`   // of the model before the event
	Others   int            `json:"others"`  // other states that were possible
	Meaning  []Meaning      `json:"meaning"` // of the numbers
}

// Allowed is one action that the model allows.
type Allowed struct {
	InModel string   `json:"in_model"`
	Copies  []int64  `json:"copies"` // of the process; 0: it has no copies
	InLog   []string `json:"in_log"`
}

// Seen is an event and its line.
type Seen struct {
	Line  int         `json:"line"`
	Event trace.Event `json:"event"`
}

// Meaning is the value that a number of the model stands for in an instance.
type Meaning struct {
	Variable string `json:"variable"`
	Number   int64  `json:"number"`
	Value    string `json:"value"`
}
