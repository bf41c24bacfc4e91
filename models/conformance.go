package models

// CheckNote is a line that a check of a coordinator's trace prints while it goes on: each second, and when it finds a
// deviation or the models that wait change.
type CheckNote struct {
	Seq uint64 `json:"seq"` // number of the last event that was read
	// Waits has the models that check nothing until the trace lists the whole state again, each with the reason.
	Waits     map[string]string `json:"waits,omitempty"`
	Deviation *Deviation        `json:"deviation,omitempty"`
}

// Deviation is an event that a model of the system's protocols does not allow.
type Deviation struct {
	Model string `json:"model"`
	Seq   uint64 `json:"seq"` // number of the event
	Why   string `json:"why"`
	Text  string `json:"text"` // the event, what the model allows there, and what was before
}

// Conformance is what a coordinator knows of the check of its own trace.
type Conformance struct {
	Trace      string            // file
	Problem    string            // why the trace is not checked now; empty: it is
	Behind     uint64            // events of the trace that are not checked yet
	Waits      map[string]string // as in CheckNote
	Deviations []Deviations      // in the order of the first ones
}

// Deviations are those of one model.
type Deviations struct {
	First Deviation
	Count int64
}
