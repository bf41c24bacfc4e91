package apitypes

import (
	"time"

	"leasehold/models"
)

// Visit is a visit that was asked for, waits, or is held by a manager.
type Visit struct {
	ID     string            `json:"id,omitempty" doc:"absent while the visit is only asked for"`
	Kind   models.OriginKind `json:"kind"`
	Origin string            `json:"origin" doc:"id"`
	State  string            `json:"state" enum:"asked,waiting,held"`
	Holder string            `json:"holder,omitempty" doc:"session"`
}

// NewVisit is the body that asks for a visit.
type NewVisit struct {
	Origin string `json:"origin" doc:"id"`
}

// NextVisit is an origin that would be visited next, and why.
type NextVisit struct {
	Origin string            `json:"origin" doc:"id"`
	Kind   models.OriginKind `json:"kind"`
	URI    string            `json:"uri"`
	Pool   string            `json:"pool" doc:"why it waits: first, known, quiet, signal, save-now; of other policies A, B1, B2, B3, all"`
	Class  int               `json:"class" doc:"of its rate"`
	Rate   float64           `json:"rate_per_day" doc:"estimated changes"`
	Value  float64           `json:"value" doc:"higher is sooner"`
}

// Schedule is when an origin is visited, and what decides that.
type Schedule struct {
	Origin   string            `json:"origin" doc:"id"`
	Kind     models.OriginKind `json:"kind"`
	URI      string            `json:"uri"`
	Why      string            `json:"why" doc:"eligible, or why it is not visited now"`
	Until    time.Time         `json:"until,omitzero" doc:"not visited before this time"`
	Disabled string            `json:"disabled,omitempty" enum:"failures,lister,operator"`
	Group    string            `json:"group"`
	Pool     string            `json:"pool"`
	Class    int               `json:"class"`
	Value    float64           `json:"value"`
	Rate     float64           `json:"rate_per_day"`
	Asked    bool              `json:"asked,omitempty" doc:"a visit was asked for"`
	Visit    string            `json:"visit,omitempty" doc:"id of the visit that waits or is held"`
	Lister   string            `json:"lister,omitempty" doc:"id"`

	FirstSeen     time.Time   `json:"first_seen,omitzero"`
	LastSeen      time.Time   `json:"last_seen,omitzero"`
	LastUpdate    time.Time   `json:"last_update,omitzero" doc:"the date that its lister gives"`
	LastScheduled time.Time   `json:"last_scheduled,omitzero"`
	LastSuccess   time.Time   `json:"last_success,omitzero"`
	Failures      int         `json:"failures" doc:"in a row"`
	Index         int         `json:"index"`
	Target        *int64      `json:"target,omitempty" doc:"a position in an order, not a date"`
	Digest        string      `json:"digest,omitempty"`
	History       []PastVisit `json:"history" doc:"the latest first"`
}

// PastVisit is the outcome of a visit.
type PastVisit struct {
	At      time.Time      `json:"at"`
	Status  models.Status  `json:"status"`
	Changed bool           `json:"changed"`
	Changes float64        `json:"changes,omitempty" doc:"number of changes that it counted"`
	Took    models.Seconds `json:"took_s"`
	Size    int64          `json:"size,omitempty" doc:"bytes"`
	Error   string         `json:"error,omitempty"`
}

// The actions of Steering.
const (
	Enable  = "enable"
	Disable = "disable"
	SaveNow = "save-now"
)

// Steering is the body that changes the visits of an origin.
type Steering struct {
	Action string `json:"action" enum:"enable,disable,save-now"`
}

// Recorded is the response to recording an outcome.
type Recorded struct {
	Ignored string `json:"ignored,omitempty" doc:"why it did not count; absent if it did"`
}
