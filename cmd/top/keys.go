package top

import (
	"unicode/utf8"
)

// An offer is a key that does something with the selected row.
type offer struct {
	key   string
	order Order
}

// offers returns the keys for the selected row of the focused pane whose operations are allowed.
func (m Model) offers() (all []offer) {
	r := m.current(m.focus)
	if r == nil {
		return nil
	}
	for _, o := range r.offers {
		if m.allows(o.order.Operation) {
			all = append(all, o)
		}
	}
	return all
}

// press returns the state after a key.
func (m Model) press(k Key) (Model, any) {
	switch {
	case k.Name == "ctrl+c":
		return m, Quit{}
	case m.ask != nil:
		return m.confirm(k)
	case m.typing:
		return m.typeFilter(k), nil
	case m.help || m.details:
		if k.Name == "q" {
			return m, Quit{}
		}
		m.help, m.details = false, false
		return m, nil
	}
	m.notice = ""
	if moved, ok := m.move(k.Name); ok {
		return moved, nil
	}
	switch k.Name {
	case "q":
		return m, Quit{}
	case "?":
		m.help = true
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "enter":
		m.details = m.current(m.focus) != nil
	case "s":
		m.state = (m.state + 1) % len(taskStates)
		return m.read()
	default:
		return m.start(k.Name)
	}
	return m, nil
}

// start begins the order that a key offers: it is counted, confirmed or carried out.
func (m Model) start(key string) (Model, any) {
	for _, o := range m.offers() {
		switch {
		case o.key != key:
			continue
		case o.order.selects():
			m.notice = "counting …"
			return m, Count{o.order}
		case o.order.asks():
			m.ask = &o.order
			return m, nil
		}
		m.notice = o.order.label() + " …"
		return m, Do{o.order}
	}
	return m, nil
}

// confirm carries out the order that waits for a confirmation if the key is y.
func (m Model) confirm(k Key) (Model, any) {
	order := *m.ask
	m.ask = nil
	if k.Name != "y" {
		m.notice = "not confirmed"
		return m, nil
	}
	m.notice = order.label() + " …"
	return m, Do{order}
}

func (m Model) typeFilter(k Key) Model {
	switch k.Name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-size]
	default:
		m.filter += k.Text
	}
	return m
}

// move changes the focused pane or the selected row, if the key does that.
func (m Model) move(key string) (Model, bool) {
	switch key {
	case "tab", "right":
		m.focus = (m.focus + 1) % panes
		return m, true
	case "shift+tab", "left":
		m.focus = (m.focus + panes - 1) % panes
		return m, true
	case "1", "2", "3", "4":
		m.focus = pane(key[0] - '1')
		return m, true
	}
	steps := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -10, "pgdown": 10, "home": -maxRows, "end": maxRows}
	step, moves := steps[key]
	if rows := m.rows(m.focus); moves && len(rows) > 0 {
		at := min(max(0, m.indexOf(m.focus, rows)+step), len(rows)-1)
		m.selected[m.focus] = rows[at].key
	}
	return m, moves
}

// maxRows is more than any pane has.
const maxRows = 1 << 20
