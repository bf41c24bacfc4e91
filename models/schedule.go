package models

import "encoding/json"

// Schedule creates a task at each of its due times, from a cron expression or after each interval.
type Schedule struct {
	Cron    string        `json:"cron,omitempty" doc:"minute, hour, day of the month, month, day of the week, such as: 30 3 * * 1-5; or @hourly, @daily, @weekly, @monthly, @yearly" schema:"cron"`
	Every   Seconds       `json:"every,omitempty" doc:"seconds between two due times, instead of cron: 1 to 31622400 (366 days)" schema:"minimum: 0, maximum: 31622400, not: {exclusiveMinimum: 0, exclusiveMaximum: 1}"`
	Zone    string        `json:"zone,omitempty" doc:"time zone of cron, such as Europe/Berlin; UTC if absent"`
	Missed  string        `json:"missed,omitempty" doc:"if due times have passed while no coordinator ran: one (the default) creates one task for the last of them, none creates no task" schema:"enum: ['', one, none]"`
	Overlap string        `json:"overlap,omitempty" doc:"if the task of an earlier run is alive: skip (the default) leaves the run out, wait keeps one run waiting for its end, allow runs them at the same time" schema:"enum: ['', skip, wait, allow]"`
	Task    ScheduledTask `json:"task"`

	_ struct{} `schema:"if: {properties: {every: {exclusiveMinimum: 0}}, required: [every]}, then: {properties: {cron: {maxLength: 0}, zone: {maxLength: 0}}}, else: {properties: {cron: {minLength: 1}}, required: [cron]}"`
}

// ScheduledTask describes the tasks that a schedule creates.
type ScheduledTask struct {
	Action      string          `json:"action" doc:"an id" schema:"id"`
	Subject     string          `json:"subject,omitempty"`
	Data        json.RawMessage `json:"data,omitempty" doc:"for the handler of the action"`
	Priority    int64           `json:"priority,omitempty" doc:"higher is sooner"`
	Timeout     Seconds         `json:"timeout,omitempty" doc:"of one attempt; 600 if absent" schema:"minimum: 0, maximum: 2592000"`
	MaxAttempts int64           `json:"max_attempts,omitempty" doc:"number of failed attempts after which the task becomes a dead letter, 1 to 1000; if absent or 0, the setting max-attempts plus 1" schema:"minimum: 0, maximum: 1000"`
	Backoff     Seconds         `json:"backoff,omitempty" doc:"seconds after an attempt that failed" schema:"minimum: 0, maximum: 2592000"`
	Group       string          `json:"group,omitempty" doc:"groups of tasks of equal priority take turns" schema:"name"`
	Tags        []string        `json:"tags,omitempty" doc:"the schedule adds schedule:NAME and due:TIME" schema:"uniqueItems: true, maxItems: 14, items: someName"`
	Limits      []string        `json:"limits,omitempty" doc:"names of limits" schema:"uniqueItems: true, maxItems: 8, items: someName"`
	OnLimit     string          `json:"on_limit,omitempty" doc:"with limits only, and without effect if that is empty; if a limit has no free slot: wait (the default), cancel_running or drop" schema:"enum: ['', wait, cancel_running, drop]"`

	_ struct{} `needs:"on_limit=limits"`
}

// What becomes of the due times that passed while no coordinator ran.
const (
	MissedOne  = "one" // one task for the last of them; the default
	MissedNone = "none"
)

// What a schedule does while a task of an earlier run is alive.
const (
	OverlapSkip  = "skip" // it leaves the run out; the default
	OverlapWait  = "wait" // one run waits for the end of that task
	OverlapAllow = "allow"
)
