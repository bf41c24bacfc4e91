package types

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
	Pool   string            `json:"pool" doc:"why it waits: first, known, due, quiet, signal, failing, save-now, told; of other policies A, B1, B2, B3, all"`
	Class  int               `json:"class" doc:"of its rate"`
	Rate   float64           `json:"rate_per_day" doc:"estimated changes"`
	Value  float64           `json:"value" doc:"higher is sooner"`

	Expected *Expected `json:"expected,omitempty" doc:"of one that changes regularly"`

	HostGroup string         `json:"host_group,omitempty" doc:"hosts with which its host shares one politeness"`
	HostGap   models.Seconds `json:"host_gap_s,omitempty" doc:"between two visits of its host, if its robots.txt asks for it (Crawl-delay)"`

	Overflows int `json:"overflows,omitempty" doc:"visits that found only new items, so that the document had probably lost others unseen"`
	Missed    int `json:"missed_items,omitempty" doc:"estimated number of these items"`

	MaxLag models.Seconds `json:"max_lag_s,omitempty" doc:"it is next because no visit succeeded for this time, the rule max-lag"`
}

// Expected is when the next change of an origin is expected, which changes regularly.
type Expected struct {
	At     time.Time      `json:"at"`
	Within models.Seconds `json:"within_s" doc:"by which it may come earlier or later"`
	Every  models.Seconds `json:"every_s" doc:"median time between two changes"`
}

// Schedule is when an origin is visited, and what decides that.
type Schedule struct {
	Origin   string            `json:"origin" doc:"id"`
	Kind     models.OriginKind `json:"kind"`
	URI      string            `json:"uri"`
	Why      string            `json:"why" doc:"eligible, or why it is not visited now"`
	Until    time.Time         `json:"until,omitzero" doc:"not visited before this time"`
	Disabled string            `json:"disabled,omitempty" enum:"failures,gone,lister,operator"`
	Group    string            `json:"group"`
	Pool     string            `json:"pool"`
	Class    int               `json:"class"`
	Value    float64           `json:"value"`
	Rate     float64           `json:"rate_per_day"`
	Every    models.Seconds    `json:"every_s,omitempty" doc:"fixed seconds between two visits"`
	Hours    models.Hours      `json:"hours,omitempty" doc:"in which it may be visited, with their time zone; absent: at any time"`
	Skip     *models.Skip      `json:"skip,omitempty" doc:"when its feed asks not to be read (skipHours, skipDays), in UTC"`
	Hub      *Hub              `json:"hub,omitempty" doc:"subscription at the WebSub hub that its feed names"`
	Asked    bool              `json:"asked,omitempty" doc:"a visit was asked for"`
	Visit    string            `json:"visit,omitempty" doc:"id of the visit that waits or is held"`
	Lister   string            `json:"lister,omitempty" doc:"id"`
	ForkOf   string            `json:"fork_of,omitempty" doc:"URI"`
	Metadata map[string]string `json:"metadata,omitempty" doc:"that a lister gave"`

	HostGroup string         `json:"host_group,omitempty" doc:"hosts with which its host shares one politeness"`
	HostGap   models.Seconds `json:"host_gap_s,omitempty" doc:"between two visits of its host, if its robots.txt asks for it (Crawl-delay)"`

	Overflows int `json:"overflows,omitempty" doc:"visits that found only new items, so that the document had probably lost others unseen"`
	Missed    int `json:"missed_items,omitempty" doc:"estimated number of these items"`

	FirstSeen     time.Time   `json:"first_seen,omitzero"`
	LastSeen      time.Time   `json:"last_seen,omitzero"`
	LastUpdate    time.Time   `json:"last_update,omitzero" doc:"the date that its lister gives"`
	LastScheduled time.Time   `json:"last_scheduled,omitzero"`
	LastSuccess   time.Time   `json:"last_success,omitzero"`
	Failures      int         `json:"failures" doc:"in a row"`
	Index         int         `json:"index"`
	Target        *int64      `json:"target,omitempty" doc:"a position in an order, not a date"`
	Digest        string      `json:"digest,omitempty"`
	Expected      *Expected   `json:"expected,omitempty" doc:"of an origin that changes regularly"`
	History       []PastVisit `json:"history" doc:"the latest first"`
}

// Hub is the subscription of the coordinator at the WebSub hub of an origin.
type Hub struct {
	models.Hub
	Until time.Time `json:"until,omitzero" doc:"end of the lease that the hub confirmed; absent: it has confirmed none"`
	Asked int       `json:"asked,omitempty" doc:"requests in a row that the hub has not confirmed"`
	Error string    `json:"error,omitempty" doc:"why the last request failed"`
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

// Capacity is what a number of slots can keep fresh.
type Capacity struct {
	Slots        int            `json:"slots"`
	VisitSeconds float64        `json:"visit_s" doc:"mean duration of a visit"`
	VisitsPerDay float64        `json:"visits_per_day" doc:"that the slots can hold"`
	Fixed        float64        `json:"fixed_per_day" doc:"visits of origins with a fixed interval"`
	Fresh        float64        `json:"fresh" doc:"largest share of the other origins that can be fresh"`
	Kinds        []KindCapacity `json:"kinds"`
	Warnings     []string       `json:"warnings" doc:"pools that grow without end"`
}

// KindCapacity is the part of one kind of origin, without those with a fixed interval.
type KindCapacity struct {
	Kind     models.OriginKind `json:"kind"`
	Origins  float64           `json:"origins" doc:"enabled"`
	Changes  float64           `json:"changes_per_day" doc:"of all"`
	Visits   float64           `json:"visits_per_day" doc:"at the best intervals"`
	Interval float64           `json:"interval_days" doc:"mean; 0: no visits"`
}

// The actions of Steering.
const (
	Enable  = "enable"
	Disable = "disable"
	SaveNow = "save-now"
	// ForceNow is SaveNow that lifts a Retry-After and the rest of an unreachable host.
	ForceNow = "force-now"
)

// Steering is the body that changes the visits of an origin.
type Steering struct {
	Action string `json:"action" enum:"enable,disable,save-now,force-now"`
}

// VisitType is a type of visits that programs make.
type VisitType struct {
	Type models.OriginKind `json:"type" doc:"1 to 32 of a-z 0-9 _ -, the first a letter" schema:"kind"`
}

// NewClaims is the body that claims visits of a type.
type NewClaims struct {
	Type  models.OriginKind `json:"type" schema:"kind"`
	Limit int               `json:"limit" doc:"1 to 1000" schema:"minimum: 1, maximum: 1000"`
}

// Pushed is the response to a list of origins.
type Pushed struct {
	Listed int `json:"listed" doc:"number of origins in the request"`
}

// Recorded is the response to recording an outcome.
type Recorded struct {
	Ignored string `json:"ignored,omitempty" doc:"why it did not count; absent if it did"`
}
