package top

import (
	"slices"
	"time"

	"leasehold/shared/api/types"
)

// A pane is one of the lists of the screen.
type pane int

const (
	attentionPane pane = iota
	actionsPane
	workersPane
	tasksPane
	panes // their number
)

// taskStates are the states of tasks that the pane of tasks shows, one after the other.
var taskStates = []string{"", "waiting", "claimed", "delayed", "paused", "dead", "ended"}

const (
	readEvery = 2 * time.Second  // interval of reads
	readLimit = 10 * time.Second // of one read
)

// Options are what a Model needs to know.
type Options struct {
	Colour bool                // draw with colours
	Clean  func(string) string // makes text of others fit for a terminal
}

// Model is the state of the screen. The zero width or height is that of a picture without a terminal's bounds.
type Model struct {
	options       Options
	width, height int
	now           time.Time
	data          Data
	reading       bool
	readAt        time.Time // when the latest read began
	failure       string    // of the latest read; empty: it succeeded

	focus    pane
	selected [panes]string // keys of the selected rows
	filter   string
	typing   bool // the filter is being typed
	state    int  // of taskStates
	help     bool
	details  bool
	ask      *Order // waits for a confirmation
	notice   string // result of the latest order
}

// New returns the state before the first read.
func New(o Options, now time.Time) Model { return Model{options: o, now: now} }

// The messages that change a Model.
type (
	// Tick tells the time, about once a second.
	Tick time.Time
	// Size is the size of the terminal.
	Size struct{ Width, Height int }
	// Key is a key that was pressed. Text is what it types, if anything.
	Key struct{ Name, Text string }
	// Answer is the result of a ReadData.
	Answer struct {
		Data  Data
		Error error
	}
	// Counted is the result of a Count.
	Counted struct {
		Order Order
		Seen  types.TaskCount
		Error error
	}
	// Done is the result of a Do.
	Done struct {
		Text  string
		Error error
	}
)

// The effects that Update demands. Their results come as messages.
type (
	// ReadData reads the data with the tasks of a state.
	ReadData struct{ State string }
	// Count counts what the order would change.
	Count struct{ Order Order }
	// Do carries out an order.
	Do struct{ Order Order }
	// Quit ends the program.
	Quit struct{}
)

// Update returns the state after a message, and the effect that it demands; nil if it demands none.
func (m Model) Update(message any) (next Model, effect any) {
	switch x := message.(type) {
	case Tick:
		m.now = time.Time(x)
		if !m.reading && m.now.Sub(m.readAt) >= readEvery {
			return m.read()
		}
	case Size:
		m.width, m.height = x.Width, x.Height
	case Key:
		return m.press(x)
	case Answer:
		m.reading = false
		if x.Error != nil {
			m.failure = x.Error.Error()
			break
		}
		m.failure, m.data = "", x.Data
	case Counted:
		switch {
		case x.Error != nil:
			m.notice = x.Error.Error()
		case x.Seen.Count == 0:
			m.notice = "nothing is selected"
		default:
			x.Order.Seen = x.Seen
			m.ask, m.notice = &x.Order, ""
		}
	case Done:
		m.notice = x.Text
		if x.Error != nil {
			m.notice = x.Error.Error()
		}
		return m.read()
	}
	return m, nil
}

func (m Model) read() (Model, any) {
	if m.reading {
		m.readAt = time.Time{} // the next tick reads again
		return m, nil
	}
	m.reading, m.readAt = true, m.now
	return m, ReadData{State: taskStates[m.state]}
}

// allows reports whether the role of the user allows an operation.
func (m Model) allows(operation string) bool {
	return slices.Contains(m.data.Caller.Operations, operation)
}

// current returns the selected row of a pane: the first one if the row that was selected is gone. It is nil if there
// are none.
func (m Model) current(p pane) *row {
	rows := m.rows(p)
	if len(rows) == 0 {
		return nil
	}
	return &rows[m.indexOf(p, rows)]
}

func (m Model) indexOf(p pane, rows []row) int {
	return max(0, slices.IndexFunc(rows, func(r row) bool { return r.key == m.selected[p] }))
}
