package top

import (
	"fmt"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// A row is a line of a pane.
type row struct {
	key     string // stays with its item from read to read
	cells   []string
	style   style
	details [][2]string // names and values, shown alone
	offers  []offer
}

// rows returns the rows of a pane that have the text of the filter.
func (m Model) rows(p pane) (all []row) {
	switch p {
	case attentionPane:
		all = each(m.data.Attention, m.attentionRow)
	case actionsPane:
		all = each(m.data.Actions, m.actionRow)
	case workersPane:
		all = each(m.data.Workers, m.workerRow)
	case tasksPane:
		all = each(m.data.Tasks, m.taskRow)
	}
	if m.filter == "" {
		return all
	}
	wanted := strings.ToLower(m.filter)
	var found []row
	for _, r := range all {
		if strings.Contains(strings.ToLower(strings.Join(r.cells, "\n")), wanted) {
			found = append(found, r)
		}
	}
	return found
}

func each[T any](items []T, asRow func(T) row) []row {
	rows := make([]row, len(items))
	for i, item := range items {
		rows[i] = asRow(item)
	}
	return rows
}

var severityStyles = map[models.Severity]style{models.StopsWork: red, models.Degrades: yellow}

func (m Model) attentionRow(i models.Attention) row {
	r := row{
		key: i.ID, style: severityStyles[i.Severity], cells: []string{i.Severity.String(), m.ageOf(i.Since), i.Text},
		details: [][2]string{{"severity", i.Severity.String()}, {"since", timeText(i.Since)}, {"text", i.Text}, {"detail", i.Detail}, {"example", i.Example}, {"run", i.Command}},
	}
	if i.Remedy != nil {
		r.offers = []offer{{"f", orderOf(i)}}
	}
	return r
}

func (m Model) actionRow(x types.Action) row {
	state, pause := "running", "pauseAction"
	r := row{key: x.Action}
	if x.Paused {
		state, pause, r.style = "paused", "resumeAction", yellow
		if x.Why != "" {
			state += ": " + x.Why
		}
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	later := x.Tasks["delayed"] + x.Tasks["blocked"] + x.Tasks["paused"]
	slots := fmt.Sprintf("%d/%d", x.SlotsInUse, x.Slots)
	r.cells = []string{x.Action, number(x.Tasks["waiting"]), seconds(x.OldestClaimable), number(x.Tasks["claimed"]), slots, number(later), number(x.Tasks["dead"]), number(x.EndedPerMinute), seconds(x.P95), state}
	r.details = [][2]string{
		{"action", x.Action}, {"state", state}, {"paused since", timeText(x.Since)}, {"paused by", x.PausedBy}, {"waiting", number(x.Tasks["waiting"])}, {"oldest", seconds(x.OldestClaimable)},
		{"oldest task", x.OldestTask}, {"claimed", number(x.Tasks["claimed"])}, {"delayed, blocked or paused", number(later)}, {"dead", number(x.Tasks["dead"])}, {"workers", number(x.Workers)}, {"slots in use", slots},
		{"created/min", number(x.CreatedPerMinute)}, {"ended/min", number(x.EndedPerMinute)}, {"failed/min", number(x.FailedPerMinute)}, {"median", seconds(x.Median)}, {"p95", seconds(x.P95)},
	}
	order := func(operation, state string) Order {
		return Order{Operation: operation, Target: x.Action, Filter: client.TaskFilter{Action: x.Action, State: state}}
	}
	r.offers = []offer{{"p", Order{Operation: pause, Target: x.Action}}}
	if x.Tasks["dead"] > 0 {
		r.offers = append(r.offers, offer{"r", order("requeueSelected", "dead")}, offer{"x", order("discardSelected", "dead")})
	}
	return r.with(offer{"c", order("cancelSelected", "")})
}

func (r row) with(o offer) row {
	r.offers = append(r.offers, o)
	return r
}

func (m Model) workerRow(w Worker) row {
	name := w.Name
	if name == "" {
		name = w.ID
	}
	var serves []string
	for _, s := range w.Serves {
		serves = append(serves, fmt.Sprintf("%s×%d", s.Action, s.Slots))
	}
	heartbeat := "-"
	if at, err := time.Parse(time.RFC3339, w.LastHeartbeat); err == nil {
		heartbeat = m.ageOf(at)
	}
	return row{
		key: w.ID, cells: []string{name, w.Host, w.Version, w.State, strings.Join(serves, ", "), fmt.Sprint(len(w.Tasks)), heartbeat},
		details: [][2]string{
			{"session", w.ID}, {"name", w.Name}, {"mode", w.Mode}, {"host", w.Host}, {"pid", fmt.Sprint(w.PID)}, {"version", w.Version}, {"state", w.State},
			{"serves", strings.Join(serves, ", ")}, {"tasks", strings.Join(w.Tasks, ", ")}, {"opened", w.Opened}, {"heartbeat", heartbeat},
		},
		offers: []offer{{"d", Order{Operation: "drainSession", Target: w.ID}}},
	}
}

func (m Model) taskRow(t types.Task) row {
	note := t.Note
	switch {
	case t.Progress != nil && t.Progress.Text != "":
		note = t.Progress.Text
	case t.Why != nil:
		note = t.Why.Text
	}
	r := row{
		key: t.ID, cells: []string{t.ID, t.Action, t.State, m.ageOf(t.CreatedAt), fmt.Sprint(t.Attempts), note},
		details: [][2]string{
			{"task", t.ID}, {"action", t.Action}, {"state", t.State}, {"subject", t.Subject}, {"created", timeText(t.CreatedAt)}, {"attempts", fmt.Sprint(t.Attempts)},
			{"tags", strings.Join(t.Tags, ", ")}, {"worker", t.Worker}, {"claimed by", text(t.CurrentClaimant)}, {"note", note},
		},
	}
	order := func(operation string) Order { return Order{Operation: operation, Target: t.ID} }
	switch {
	case t.State == "dead":
		r.style, r.offers = red, []offer{{"r", order("requeueDead")}, {"x", order("discardDead")}}
	case !t.HasEnded():
		r.offers = []offer{{"c", order("cancelTask")}}
	}
	return r
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// ageOf returns how long ago a time was. Clocks may differ, so a time in the future is 0s.
func (m Model) ageOf(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return short(max(0, m.now.Sub(t)).Truncate(time.Second))
}

func seconds(s *models.Seconds) string {
	if s == nil {
		return "-"
	}
	return short(s.Duration())
}

// short returns a duration in its largest unit.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
