package page

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// Limits of the sessions and tasks that are read.
const (
	maxSessions = 10_000
	maxClaimed  = 1_000
	workerRows  = 50 // workers at a time
	maxCosts    = 200
	maxSlots    = 12 // that are drawn one by one
	maxHeld     = 8  // tasks of a worker that are shown
	maxLost     = 30 // lost sessions that are shown
)

// fleet is the processes that work.
type fleet struct {
	Workers  []workerRow
	Managers []workerRow
	More     int // workers that are not among Workers
	All      int // workers
	Busy     int // workers with a task
	Running  int // tasks
	Free     int // slots
}

// workerRow is a worker or a manager.
type workerRow struct {
	types.OpenSession
	Opened, Seen time.Time // instead of the texts of OpenSession
	Serves       []types.Served
	Slots        int
	Tasks        []types.Task // that it has, at most maxHeld
	Held         int          // all tasks that it has
}

// Label is its name, or the id of its session.
func (w workerRow) Label() string { return cmp.Or(w.Name, w.ID) }

// Marks are its slots for the picture: true for one in use. It is empty for too many.
func (w workerRow) Marks() []bool {
	if w.Slots > maxSlots {
		return nil
	}
	marks := make([]bool, w.Slots)
	for i := range marks {
		marks[i] = i < w.Held
	}
	return marks
}

// has reports whether the name, host, id or an action of the worker contains a text. Upper and lower case are the same.
func (w workerRow) has(text string) bool {
	parts := []string{w.Name, w.Host, w.ID}
	for _, s := range w.Serves {
		parts = append(parts, s.Action)
	}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToLower(part), text) })
}

// cut leaves the first workers.
func (f *fleet) cut(most int) {
	f.More = max(0, len(f.Workers)-most)
	f.Workers = f.Workers[:len(f.Workers)-f.More]
}

// readFleet reads the sessions of workers and managers, and the tasks that they have.
func (v *visit) readFleet() (f fleet, err error) {
	var described types.Page[types.Session]
	var open types.Page[types.OpenSession]
	var claimed types.Tasks
	limit := url.Values{"limit": {strconv.Itoa(maxSessions)}}
	if err := v.get(v.Context(), path("status"), limit, &described); err != nil {
		return f, err
	}
	if _, err := v.getOptional(v.Context(), path("sessions"), limit, &open); err != nil {
		return f, err
	}
	if err := v.get(v.Context(), path("tasks"), url.Values{"state": {"claimed"}, "limit": {strconv.Itoa(maxClaimed)}}, &claimed); err != nil {
		return f, err
	}
	byID := map[string]types.OpenSession{}
	for _, o := range open.Items {
		byID[o.ID] = o
	}
	bySession := map[string][]types.Task{}
	for _, t := range claimed.Items {
		bySession[t.Session] = append(bySession[t.Session], t)
	}
	for _, d := range described.Items {
		f.add(rowOf(d, byID[d.ID], bySession[d.ID]))
	}
	slices.SortStableFunc(f.Workers, func(a, b workerRow) int { return cmp.Or(cmp.Compare(a.Label(), b.Label()), cmp.Compare(a.ID, b.ID)) })
	return f, nil
}

// rowOf joins the two descriptions of a session and its tasks.
func rowOf(d types.Session, o types.OpenSession, tasks []types.Task) workerRow {
	o.ID, o.Mode, o.State = d.ID, cmp.Or(o.Mode, d.Mode), cmp.Or(d.State, o.State)
	w := workerRow{OpenSession: o, Serves: d.Serves, Tasks: tasks[:min(len(tasks), maxHeld)], Held: max(len(d.Tasks), len(tasks))}
	w.Opened, _ = time.Parse(time.RFC3339, cmp.Or(o.Opened, d.Since)) // zero if a foreign client put another text
	w.Seen, _ = time.Parse(time.RFC3339, o.LastHeartbeat)
	for _, s := range d.Serves {
		w.Slots = max(w.Slots, int(s.Slots)) // actions share them
	}
	return w
}

// add adds a session to the workers or the managers.
func (f *fleet) add(w workerRow) {
	if w.Mode == "manager" {
		f.Managers = append(f.Managers, w)
		return
	}
	if w.Mode != "worker" && len(w.Serves) == 0 {
		return
	}
	f.All++
	f.Running += w.Held
	f.Free += max(0, w.Slots-w.Held)
	if w.Held > 0 {
		f.Busy++
	}
	f.Workers = append(f.Workers, w)
}

// workersPage is the fleet, and what its tasks have cost. Workers is a part of the list of workers.
type workersPage struct {
	fleet
	Text        string               // in the name, host, id or an action of the workers that are listed; empty: all are
	Matching    int                  // workers that have the text
	First, Next string               // addresses of the first and the next part; empty: this is the first, or the last
	Lost        []models.LostSession // of the last hour, the latest first
	MoreLost    int                  // that are not shown
	Costs       []models.Cost
}

// readWorkers reads the page of workers.
func readWorkers(v *visit) (any, error) {
	f, err := v.readFleet()
	if err != nil {
		return nil, err
	}
	page := workersPage{fleet: f, Text: v.param("text")}
	page.selectPart(v)
	var costs types.Page[models.Cost]
	err = v.get(v.Context(), path("costs"), url.Values{"limit": {strconv.Itoa(maxCosts)}}, &costs)
	page.Costs = costs.Items
	if v.page.Lost != nil {
		lost := v.page.Lost()
		page.Lost = lost[:min(len(lost), maxLost)]
		page.MoreLost = len(lost) - len(page.Lost)
	}
	return page, err
}

// selectPart leaves the workers that have the text, and of these the part that begins where the address tells.
func (w *workersPage) selectPart(v *visit) {
	text := strings.ToLower(w.Text)
	w.Workers = slices.DeleteFunc(w.Workers, func(row workerRow) bool { return !row.has(text) })
	w.Matching = len(w.Workers)
	from, _ := strconv.Atoi(v.param("from")) // otherwise the first part
	from = max(0, min(from, w.Matching))
	w.Workers = w.Workers[from:min(from+workerRows, w.Matching)]
	if from > 0 {
		w.First = v.page.link("/workers", "text", w.Text)
	}
	if next := from + workerRows; next < w.Matching {
		w.Next = v.page.link("/workers", "text", w.Text, "from", strconv.Itoa(next))
	}
}
