package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

func withoutEscapes(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func TestThePictures(t *testing.T) {
	t.Parallel()
	with := func(width, height int, keys ...string) Model {
		m, _ := press(shown(width, height), keys...)
		return m
	}
	cut, _ := shown(80, 24).Update(Answer{Error: errors.New("the coordinator at http://127.0.0.1:7412 is unavailable: connection refused")})
	cut, _ = cut.Update(Tick(noon.Add(14 * time.Second)))
	counted, _ := shown(80, 24).Update(Counted{Order: Order{Operation: "discardSelected", Target: "import"}, Seen: types.TaskCount{Count: 3}})
	for name, m := range map[string]Model{
		"80x24": with(80, 24), "60x20": with(60, 20), "120x30": with(120, 30), "60x12": with(60, 12, "4"), "once": with(0, 0),
		"help": with(80, 24, "?"), "details": with(60, 20, "enter"), "filter": with(80, 24, "/", "i", "m", "p", "enter"), "actions": with(80, 24, "tab", "down"),
		"cut-off": cut, "confirm": counted, "first": New(Options{}, noon),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, m.View()) })
	}
}

func TestKeysStartOrders(t *testing.T) {
	t.Parallel()
	dead := client.TaskFilter{Action: "import", State: "dead"}
	for _, c := range []struct {
		keys string
		want any
	}{
		{"f", Do{Order{Operation: "resumeAction", Target: "resize", Remedy: fixture().Attention[0].Remedy}}},
		{"tab p", Do{Order{Operation: "pauseAction", Target: "import"}}},
		{"tab down p", Do{Order{Operation: "resumeAction", Target: "resize"}}},
		{"2 r", Count{Order{Operation: "requeueSelected", Target: "import", Filter: dead}}},
		{"2 x", Count{Order{Operation: "discardSelected", Target: "import", Filter: dead}}},
		{"2 c", Count{Order{Operation: "cancelSelected", Target: "import", Filter: client.TaskFilter{Action: "import"}}}},
		{"2 down x", nil}, // no dead letters
		{"3 d", nil},      // asks
		{"3 d y", Do{Order{Operation: "drainSession", Target: "worker-1a2b"}}},
		{"3 d n", nil},
		{"4 c y", Do{Order{Operation: "cancelTask", Target: "t7"}}},
		{"4 end r", Do{Order{Operation: "requeueDead", Target: "t9"}}},
		{"4 end x", nil},
		{"4 end x y", Do{Order{Operation: "discardDead", Target: "t9"}}},
		{"4 end c", nil}, // it is dead
		{"4 / d e a d enter r", Do{Order{Operation: "requeueDead", Target: "t9"}}},
		{"s", ReadData{State: "waiting"}},
		{"shift+tab down down up x", nil},
		{"/ q", nil}, // typed into the filter
		{"q", Quit{}},
		{"? q", Quit{}},
		{"/ ctrl+c", Quit{}},
	} {
		_, effect := press(shown(80, 24), strings.Fields(c.keys)...)
		require.Equal(t, c.want, effect, c.keys)
	}
}

func TestARemedyOfASelectionHasTheCountThatThePersonSaw(t *testing.T) {
	t.Parallel()
	m, effect := press(shown(80, 24), "down", "f")
	require.Nil(t, effect)
	require.Contains(t, m.View(), "requeue 3 dead letters of import? y: yes")
	_, effect = press(m, "y")
	order := effect.(Do).Order
	require.Equal(t, client.TaskFilter{Action: "import", Text: "refused"}, order.Filter)
	require.Equal(t, types.TaskCount{Count: 3, At: noon}, order.Seen)
}

func TestOnlyOperationsOfTheRoleAreOffered(t *testing.T) {
	t.Parallel()
	d := fixture()
	d.Caller.Operations = []string{"cancelTask"}
	m, _ := shown(120, 40).Update(Answer{Data: d})
	for _, keys := range []string{"f", "2 p", "2 c", "3 d y", "4 end r"} {
		after, effect := press(m, strings.Fields(keys)...)
		require.Nil(t, effect, keys)
		require.Nil(t, after.ask, keys)
	}
	require.NotContains(t, m.View(), "f resume")
	m, _ = press(m, "4")
	require.Contains(t, m.View(), "c cancel")
}

func TestASelectionIsConfirmedWithItsCount(t *testing.T) {
	t.Parallel()
	m, effect := press(shown(80, 24), "2", "x")
	order := effect.(Count).Order
	none, _ := m.Update(Counted{Order: order})
	require.Contains(t, none.View(), "nothing is selected")
	m, _ = m.Update(Counted{Order: order, Seen: types.TaskCount{Count: 3, At: noon}})
	require.Contains(t, m.View(), "discard 3 dead letters of import? y: yes, other keys: no")
	m, effect = press(m, "y")
	require.EqualValues(t, 3, effect.(Do).Order.Seen.Count)
	m, effect = m.Update(Done{Error: errors.New("conflict: more than the 3 tasks that you saw")})
	require.Equal(t, ReadData{}, effect)
	require.Contains(t, m.View(), "more than the 3 tasks that you saw")
}

func TestItGoesOnWhenTheCoordinatorIsBack(t *testing.T) {
	t.Parallel()
	m := shown(80, 24)
	m, effect := m.Update(Tick(noon.Add(readEvery)))
	require.Equal(t, ReadData{}, effect)
	_, effect = m.Update(Tick(noon.Add(2 * readEvery)))
	require.Nil(t, effect, "one read at a time")
	m, _ = m.Update(Answer{Error: errors.New("no route")})
	m, effect = m.Update(Tick(noon.Add(3 * readEvery)))
	require.Equal(t, ReadData{}, effect)
	require.Contains(t, m.View(), "6s old")
	require.Contains(t, m.View(), "cut off; this is the state of 12:00:00: no route")
	d := fixture()
	d.At = noon.Add(3 * readEvery)
	m, _ = m.Update(Answer{Data: d})
	require.NotContains(t, m.View(), "cut off")
	require.Contains(t, m.View(), "0s old")
}

func TestTheSelectionStaysWithItsRow(t *testing.T) {
	t.Parallel()
	m, _ := press(shown(80, 24), "4", "down")
	d := fixture()
	d.Tasks = d.Tasks[1:]
	m, _ = m.Update(Answer{Data: d})
	require.Equal(t, "t8", m.current(tasksPane).key)
	d.Tasks = nil
	m, _ = m.Update(Answer{Data: d})
	require.Nil(t, m.current(tasksPane))
	_, effect := press(m, "down", "enter", "c")
	require.Nil(t, effect)
}

func TestColoursAreDrawnOnlyIfWanted(t *testing.T) {
	t.Parallel()
	require.NotContains(t, shown(80, 24).View(), "\x1b")
	m := New(Options{Colour: true, Clean: withoutEscapes}, noon)
	m, _ = m.Update(Size{80, 24})
	m, _ = m.Update(Answer{Data: fixture()})
	require.Contains(t, m.View(), "\x1b[1;31mOne thing stops work")
	require.NotContains(t, m.View(), "\x1b[31mconnection", "text of others has no colours")
}

// After any keys and at any size, the screen has no more lines than the terminal, and none is wider.
func TestTheScreenFitsTheTerminal(t *testing.T) {
	t.Parallel()
	keys := []string{"tab", "shift+tab", "up", "down", "end", "home", "enter", "esc", "/", "i", "backspace", "?", "s", "f", "p", "c", "r", "x", "d", "y", "n", "4"}
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(60, 200).Draw(t, "width"), rapid.IntRange(10, 60).Draw(t, "height")
		m := shown(width, height)
		for _, k := range rapid.SliceOf(rapid.SampledFrom(keys)).Draw(t, "keys") {
			m, _ = press(m, k)
		}
		d := fixture()
		for i := range rapid.IntRange(0, 100).Draw(t, "tasks") {
			d.Tasks = append(d.Tasks, types.Task{ID: fmt.Sprint("u", i), Note: rapid.String().Draw(t, "note")})
		}
		m, _ = m.Update(Answer{Data: d})
		lines := strings.Split(m.View(), "\n")
		if len(lines) > height {
			t.Fatalf("%d lines of %d", len(lines), height)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width {
				t.Fatalf("%d characters of %d: %q", utf8.RuneCountInString(line), width, line)
			}
		}
	})
}
