package page

import (
	"net/url"
	"strconv"
	"time"

	"leasehold/coordinator/api"
	"leasehold/shared/api/types"
)

// taskPage is how many tasks a page of a list has.
const taskPage = 50

// states are the states by which tasks are listed, with their names.
var states = [][2]string{
	{"", "alive"}, {"waiting", "waiting"}, {"claimed", "running"}, {"delayed", "delayed"}, {"blocked", "blocked"}, {"paused", "paused"},
	{"dead", "dead"}, {"resolved", "resolved"}, {"cancelled", "cancelled"},
}

// filterParams are the parameters of the page that select tasks.
var filterParams = []string{"state", "action", "tag", "group", "text", "data", "older", "younger"}

// tasksPage is a page of a list of tasks.
type tasksPage struct {
	Filter  map[string]string
	States  []choice
	Chips   []chip
	Ages    []choice
	Rows    []taskRow
	Next    string // address of the next page; empty: there is none
	First   string // address of the first page; empty: this is it
	Problem string // why the filter selects nothing
	HasData bool   // the API looks for text in the data of tasks
	Bulks   []choice
}

// choice is a link of several; Here marks the current one.
type choice struct {
	Name, Link string
	Here       bool
}

// chip is a part of the filter, and the address without it.
type chip struct{ Name, Value, Without string }

// taskRow is a task of a list, with the time at which its state began, as far as that is known.
type taskRow struct {
	types.Task
	Since time.Time
}

// Chip is the class of its state.
func (t taskRow) Chip() string { return stateClass(t.State) }

// Said is why it is not running, or how it ended.
func (t taskRow) Said() string {
	switch {
	case t.Why != nil:
		return t.Why.Text
	case t.Note != "":
		return t.Note
	case t.Progress != nil:
		return t.Progress.Text
	}
	return ""
}

// stateClass is the class of the chip of a state.
func stateClass(state string) string {
	switch state {
	case "claimed":
		return "run"
	case "resolved":
		return "good"
	case "dead":
		return "bad"
	case "waiting", "delayed", "blocked", "paused":
		return "warn"
	}
	return ""
}

// readTasks reads a page of the tasks that the query selects.
func readTasks(v *visit) (any, error) {
	t := tasksPage{Filter: map[string]string{}}
	query := url.Values{"limit": {strconv.Itoa(taskPage)}}
	for _, name := range filterParams {
		if value := v.param(name); value != "" {
			t.Filter[name] = value
			query.Set(name, value)
		}
	}
	v.title = "Tasks"
	t.addChoices(v.page)
	t.addBulks(v)
	t.HasData = api.Allows(v.who, "countTasks")
	if cursor := v.param("cursor"); cursor != "" {
		query.Set("cursor", cursor)
		t.First = t.with(v.page, "", "")
	}
	var answer types.Tasks
	err := v.get(v.Context(), path("tasks"), query, &answer)
	var refused *problem
	if asProblem(err, &refused) && refused.Status < 500 && refused.Status != 401 && refused.Status != 403 {
		t.Problem = sentence(refused.Error())
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	for _, shown := range answer.Items {
		row := taskRow{Task: shown, Since: shown.CreatedAt}
		switch {
		case !shown.EndedAt.IsZero():
			row.Since = shown.EndedAt
		case shown.State == "claimed" && shown.ClaimedAt != nil:
			row.Since = *shown.ClaimedAt
		}
		t.Rows = append(t.Rows, row)
	}
	if answer.Next != "" {
		t.Next = t.with(v.page, "cursor", answer.Next)
	}
	return t, nil
}

// with returns the address of the list with one parameter changed; empty: without it.
func (t tasksPage) with(p *Page, name, value string) string {
	pairs := []string{}
	for _, other := range filterParams {
		if other != name {
			pairs = append(pairs, other, t.Filter[other])
		}
	}
	return p.link("/tasks", append(pairs, name, value)...)
}

// addChoices adds the links that change the filter.
func (t *tasksPage) addChoices(p *Page) {
	for _, s := range states {
		t.States = append(t.States, choice{s[1], t.with(p, "state", s[0]), t.Filter["state"] == s[0]})
	}
	for _, a := range [][2]string{{"", "any age"}, {"60", "1 min"}, {"3600", "1 h"}, {"86400", "1 d"}} {
		name := a[1]
		if a[0] != "" {
			name = "older than " + name
		}
		t.Ages = append(t.Ages, choice{name, t.with(p, "older", a[0]), t.Filter["older"] == a[0]})
	}
	for _, name := range []string{"action", "tag", "group", "text", "data", "younger"} {
		if value := t.Filter[name]; value != "" {
			t.Chips = append(t.Chips, chip{name, value, t.with(p, name, "")})
		}
	}
}
