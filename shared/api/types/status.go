package types

import "leasehold/models"

// Session is a connected manager, worker or client, as it describes itself.
type Session struct {
	ID     string   `json:"id"`
	Mode   string   `json:"mode" doc:"coordinator, manager, worker, …"`
	State  string   `json:"state" doc:"what it does"`
	Since  string   `json:"since"`
	Serves []Served `json:"serves"`
	Tasks  []string `json:"tasks" doc:"ids of the tasks that it holds"`
}

// OpenSession is a session of any client, with the program behind it as that describes itself.
type OpenSession struct {
	ID            string         `json:"id"`
	Name          string         `json:"name,omitempty" doc:"of a worker, the same after each start"`
	Mode          string         `json:"mode" doc:"coordinator, manager, worker, client, …; empty until its client has come back after a restart"`
	Host          string         `json:"host" doc:"name of its machine or container; of a client that reports none, its address"`
	PID           int            `json:"pid"`
	Version       string         `json:"version"`
	State         string         `json:"state" doc:"of managers and workers: what they do"`
	Opened        string         `json:"opened" doc:"after a restart of the coordinator: when it was restored"`
	LastHeartbeat string         `json:"last_heartbeat,omitempty" doc:"absent if the session has no TTL, because it lives with its connection"`
	TTL           models.Seconds `json:"ttl_s,omitempty" doc:"after which silence it is lost"`
	Holds         int            `json:"holds" doc:"tuples that it holds, or has taken and not acknowledged"`
	Waits         int            `json:"waits" doc:"its calls that wait"`
}

// Served is an action that a session serves.
type Served struct {
	Action string `json:"action" schema:"id"`
	Slots  int64  `json:"slots" schema:"minimum: 1, maximum: 16384"`
}
