package models

import (
	"encoding/json"
	"slices"
)

// The actions.
const (
	ActionResearch = "research" // searches an episode for clips
	ActionIndex    = "index"    // analyses a batch of a repository's files for code search
)

// ActionVisit is the action of the results that carry the outcomes of visits. No task has it, so that only the manager
// that holds a visit can end it.
const ActionVisit = "visit"

// The ways in which tasks of research are done (Cost.How).
const (
	ResearchKnown   = "known"   // the worker has the episode's landmarks and sound
	ResearchDecoded = "decoded" // the worker fetches and decodes the episode, or a part of it
)

// The ways in which tasks of index are done (Cost.How).
const (
	IndexNew   = "new"   // at least one file was read and analysed
	IndexKnown = "known" // every file was indexed already
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
	// Selected returns what the flow selected from the catalog for a task; nothing for any
	// other task, such as one that a client created. Nil: the flow selects nothing from the
	// catalog.
	Selected func(Task) []Selected
}

var actions = []Action{
	{
		Name: ActionResearch, Flow: ArchiveFlow, Item: "episode",
		Ways:     map[string]string{ResearchKnown: "from kept fingerprints", ResearchDecoded: "fetched and decoded"},
		Selected: selectedResearch,
	},
	{
		Name: ActionIndex, Flow: IndexFlow, Item: "file group",
		Ways: map[string]string{IndexNew: "read and analysed", IndexKnown: "indexed before"},
	},
}

// Selected is parts of a subject that a flow selected from the catalog, such as clips of an episode.
type Selected struct {
	Subject string
	Parts   []string
}

// selectedResearch returns the clips of each episode of a research task. Data of any other task select nothing.
func selectedResearch(t Task) (all []Selected) {
	var r Research
	if json.Unmarshal(t.Data, &r) != nil {
		return nil
	}
	for _, p := range r.Pairs() {
		if subject, clips := p.Work(); subject != "" {
			all = append(all, Selected{subject, clips})
		}
	}
	return all
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

// SelectedWork returns what its action's flow selected from the catalog for a task, and nothing
// for any other task.
func (t Task) SelectedWork() []Selected {
	a, known := ActionNamed(t.Action)
	if !known || a.Selected == nil {
		return nil
	}
	return a.Selected(t)
}
