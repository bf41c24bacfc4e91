package types

import (
	"encoding/json"
	"time"

	"leasehold/models"
)

// NewSession is the body that opens the session of a worker.
type NewSession struct {
	Name    string          `json:"name,omitempty" doc:"of the worker, the same after each start: a worker does not get the task that it just failed. If empty, the id of the session" schema:"shortLine"`
	TTL     *models.Seconds `json:"ttl,omitempty" doc:"seconds without a request after which the session is lost; 30 if absent, at most 60 unless the coordinator allows more" schema:"minimum: 1, maximum: 60"`
	Serves  []Served        `json:"serves,omitempty" doc:"actions and how many tasks at a time; claims name others at will; each action once" schema:"maxItems: 62"`
	Host    string          `json:"host,omitempty" doc:"its machine; the address that the request comes from if empty" schema:"shortLine"`
	PID     int             `json:"pid,omitempty"`
	Version string          `json:"version,omitempty" schema:"shortLine"`
	Resume  string          `json:"resume,omitempty" doc:"id of the session that it had before the coordinator restarted; closed: that was lost" schema:"maxLength: 255"`
}

// NewHeartbeat is the body of a heartbeat.
type NewHeartbeat struct {
	Wait models.Seconds `json:"wait,omitempty" doc:"seconds to wait, at most 25; the answer comes at once when the session loses a task or shall drain, and when another heartbeat of it comes" schema:"minimum: 0, maximum: 25"`
}

// WorkerSession is the session of a worker.
type WorkerSession struct {
	ID       string         `json:"id"`
	TTL      models.Seconds `json:"ttl" doc:"seconds without a request after which it is lost"`
	Draining bool           `json:"draining" doc:"an administrator wants the worker to claim nothing new, to finish or hand back its tasks, and to end"`
	Claims   []Claim        `json:"claims" doc:"the tasks that it has; a worker stops those that it runs and that are not there"`
}

// Claim is a task that a session has.
type Claim struct {
	Task  string    `json:"task" doc:"id"`
	Token int64     `json:"token" doc:"of the attempt"`
	Due   time.Time `json:"due" doc:"when it times out, unless it is extended"`
}

// NewTaskClaims is the body that claims tasks.
type NewTaskClaims struct {
	Actions []string       `json:"actions,omitempty" doc:"those that the session serves if absent" schema:"items: id"`
	Limit   *int           `json:"limit,omitempty" doc:"most tasks, 0 to 64; 1 if absent; with 0 the answer comes at once. Fewer come at once rather than wait for more" schema:"minimum: 0, maximum: 64"`
	Wait    models.Seconds `json:"wait,omitempty" doc:"seconds to wait for the first task, at most 25; with finish the answer comes at once" schema:"minimum: 0, maximum: 25"`
	Finish  []Finish       `json:"finish,omitempty" doc:"tasks that the session has, at most 64, to end in one step with the claim; all of them or, if the request is refused, none" schema:"maxItems: 64"`
}

// Finish ends a task that the session has, in one of three ways.
type Finish struct {
	Task     string      `json:"task" doc:"id" schema:"id"`
	Resolve  *Resolution `json:"resolve,omitempty"`
	Release  *Release    `json:"release,omitempty"`
	HandBack *HandBack   `json:"hand_back,omitempty"`

	_ struct{} `schema:"minProperties: 2, maxProperties: 2"`
}

// Finished is what became of one Finish.
type Finished struct {
	Task   string `json:"task" doc:"id"`
	Code   string `json:"code,omitempty" doc:"of the error, such as stale_token, which does not undo the others; absent: it ended as requested"`
	Detail string `json:"detail,omitempty" doc:"of the error, for people"`

	Created []Task `json:"created,omitempty" doc:"tasks that resolve.create made, in its order"`
}

// ClaimedTask is a task that a session has claimed.
type ClaimedTask struct {
	Task
	Token   int64          `json:"token" doc:"proves that an attempt is the current one"`
	Parents []ParentResult `json:"parents,omitempty" doc:"how the tasks of after ended"`
}

// ParentResult is how a parent of a task ended.
type ParentResult struct {
	Task    string          `json:"task" doc:"id"`
	State   string          `json:"state"`
	Result  json.RawMessage `json:"result,omitempty" doc:"absent: there is none, or it is left out"`
	LeftOut bool            `json:"left_out,omitempty" doc:"of a claim: it has a result, but those of all parents are too large together; GET /tasks/{task}/parents has it"`
}

// ParentResults is one page of how the parents of a task ended.
type ParentResults struct {
	Items []ParentResult `json:"items" doc:"in the order of after, without those that have not ended"`
	Next  int            `json:"next,omitempty" doc:"offset of the next page; absent: there is none"`
}

// ClaimedTasks is the answer to a claim.
type ClaimedTasks struct {
	Items    []ClaimedTask `json:"items" doc:"empty: there was none in time"`
	Finished []Finished    `json:"finished,omitempty" doc:"for each of finish, in its order"`
}

// Extension is the body that restarts the timeout of a task.
type Extension struct {
	Token    int64            `json:"token" schema:"minimum: 1"`
	Progress *models.Progress `json:"progress,omitempty" doc:"to note"`
}

// Resolution is the body that resolves a task.
type Resolution struct {
	Token  int64           `json:"token" schema:"minimum: 1"`
	Result json.RawMessage `json:"result,omitempty" doc:"any JSON, at most 960 KiB; null if absent"`
	Create []NewTask       `json:"create,omitempty" doc:"tasks to create in the same transaction, at most 1000" schema:"maxItems: 1000"`
	Output string          `json:"output,omitempty" doc:"the last lines that the attempt printed; the last 2 KiB are kept with the end of the task"`
}

// Release is the body that gives a task back after an attempt that failed.
type Release struct {
	Token  int64          `json:"token" schema:"minimum: 1"`
	Error  string         `json:"error,omitempty" doc:"why, for people"`
	Delay  models.Seconds `json:"delay,omitempty" doc:"seconds before any worker gets it; the coordinator's rule if absent" schema:"minimum: 0, maximum: 31622400"`
	Output string         `json:"output,omitempty" doc:"the last lines that the attempt printed"`
	GiveUp bool           `json:"give_up,omitempty" doc:"no worker could do it: it is dead at once"`
}

// HandBack is the body that gives a task back without counting an attempt.
type HandBack struct {
	Token int64          `json:"token" schema:"minimum: 1"`
	Delay models.Seconds `json:"delay,omitempty" doc:"seconds before any worker gets it" schema:"minimum: 0, maximum: 31622400"`
}
