package models

import (
	"encoding/json"
	"slices"
)

// ActionResearch is the action that searches an episode for clips.
const ActionResearch = "research"

// The ways in which tasks of research are done (Cost.How).
const (
	ResearchKnown   = "known"   // the worker has the episode's landmarks and sound
	ResearchDecoded = "decoded" // the worker fetches and decodes the episode, or a part of it
)

// Action is one row of the table of actions. Code that differs between actions reads
// this table, so that a new action needs a row here, its worker's handler and its
// manager's flow, which package node puts together.
type Action struct {
	Name string
	Flow FlowName // the manager's flow that issues its tasks
	Item string   // what one task handles, for people, in the singular
	// Ways describes, for people, each way in which a task is done (Cost.How).
	Ways map[string]string
	// Selected returns the subject and the parts of a task that the flow selected from
	// the catalog. It returns ok false for any other task, such as one that a client
	// created. Nil: the flow selects nothing from the catalog.
	Selected func(Task) (subject string, parts []string, ok bool)
}

var actions = []Action{
	{
		Name: ActionResearch, Flow: ArchiveFlow, Item: "episode",
		Ways:     map[string]string{ResearchKnown: "from kept fingerprints", ResearchDecoded: "fetched and decoded"},
		Selected: selectedResearch,
	},
}

func selectedResearch(t Task) (episode string, clips []string, ok bool) {
	var r Research
	if json.Unmarshal(t.Data, &r) != nil || r.Episode.ID == "" {
		return "", nil, false
	}
	for _, c := range r.Clips {
		clips = append(clips, c.ID)
	}
	return r.Episode.ID, clips, true
}

// ActionNamed returns the row of an action; ok is false if it is unknown.
func ActionNamed(name string) (a Action, ok bool) {
	if i := slices.IndexFunc(actions, func(a Action) bool { return a.Name == name }); i >= 0 {
		return actions[i], true
	}
	return Action{}, false
}

// ActionNames returns the names of all actions that workers of this version can serve.
func ActionNames() []string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = a.Name
	}
	return names
}

// SelectedWork returns the subject and the parts of a task that its action's flow
// selected from the catalog, and ok false for any other task.
func (t Task) SelectedWork() (subject string, parts []string, ok bool) {
	a, known := ActionNamed(t.Action)
	if !known || a.Selected == nil {
		return "", nil, false
	}
	return a.Selected(t)
}
