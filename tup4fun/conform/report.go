package conform

import (
	"leasehold/shared/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// Outcome is a verdict.
type Outcome string

// The verdicts.
const (
	Conforms   Outcome = "conforms"
	Violates   Outcome = "violates"
	Incomplete Outcome = "incomplete" // a bound was reached, or nothing was asked: it could not be found out
)

// Report is what was found.
type Report struct {
	Model     string     `json:"model"`
	Map       string     `json:"map"`
	Trace     string     `json:"trace"`
	Outcome   Outcome    `json:"outcome"`
	Reason    string     `json:"reason,omitempty"` // of incomplete
	Events    int        `json:"events"`           // that were read
	Explained int        `json:"explained"`        // of them, that the map speaks of
	Reloads   int        `json:"reloads"`
	Instances int        `json:"instances"`
	States    int        `json:"states"` // of the model, that were looked at
	Within    int        `json:"within"` // instances that the log leaves within a step
	Torn      bool       `json:"torn"`   // the last line is not whole
	Unseen    []Unseen   `json:"unseen"` // what the model can do, and the log never showed
	Unused    []int      `json:"unused"` // lines of the map whose rules covered nothing
	Violation *Violation `json:"violation,omitempty"`
}

// Unseen is an operation of the model that no event was.
type Unseen struct {
	Process string     `json:"process"`
	Pos     syntax.Pos `json:"position"`
	Text    string     `json:"text"`
}

// Violation is the first event that nothing explains.
type Violation struct {
	Why      string         `json:"why"`
	Line     int            `json:"line"`
	Event    trace.Event    `json:"event"`
	InModel  string         `json:"in_model,omitempty"` // what it would be there
	Instance string         `json:"instance,omitempty"`
	Allowed  []Allowed      `json:"allowed"` // what the model would have let happen
	Last     []Seen         `json:"last"`    // the events of the instance before
	State    explore.Config `json:"state"`   // of the model, before
	Others   int            `json:"others"`  // states that were possible as well
	Meaning  []Meaning      `json:"meaning"` // of the numbers
}

// Allowed is one thing that the model would have let happen.
type Allowed struct {
	InModel string   `json:"in_model"`
	Copies  []int64  `json:"copies"` // of the process; 0: it has none
	InLog   []string `json:"in_log"`
}

// Seen is an event and its line.
type Seen struct {
	Line  int         `json:"line"`
	Event trace.Event `json:"event"`
}

// Meaning says what a number of the model stands for in an instance.
type Meaning struct {
	Variable string `json:"variable"`
	Number   int64  `json:"number"`
	Value    string `json:"value"`
}
