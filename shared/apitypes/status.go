package apitypes

// Session is a connected manager, worker or client, as it describes itself.
type Session struct {
	ID     string   `json:"id"`
	Mode   string   `json:"mode" doc:"coordinator, manager, worker, …"`
	State  string   `json:"state" doc:"what it does"`
	Since  string   `json:"since"`
	Serves []Served `json:"serves"`
	Tasks  []string `json:"tasks" doc:"ids of the tasks that it holds"`
}

// Served is an action that a session serves.
type Served struct {
	Action string `json:"action"`
	Slots  int64  `json:"slots"`
}
