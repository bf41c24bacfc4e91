package top

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"leasehold/shared/api/client"
)

// Run shows the screen on a terminal until the user ends it or ctx ends.
func Run(ctx context.Context, api *client.Client, o Options, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends calls that are still in progress
	p := tea.NewProgram(screen{New(o, time.Now()), ctx, api}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	if _, err := p.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("top: %w", err)
	}
	return nil
}

// Once returns one picture of the data, as wide as asked; 80 columns if width is 0.
func Once(d Data, o Options, width int) string {
	m := New(o, d.At)
	m.width = width
	m, _ = m.Update(Answer{Data: d})
	return m.View()
}

// screen is a Model as Bubble Tea runs it.
type screen struct {
	model Model
	ctx   context.Context
	api   *client.Client
}

func tick() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return Tick(t) }) }

// Init reads the data for the first time.
func (s screen) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg { return Tick(time.Now()) })
}

// Update passes a message to the model, and starts what it demands.
func (s screen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	var in any = message
	switch x := message.(type) {
	case tea.WindowSizeMsg:
		in = Size{x.Width, x.Height}
	case tea.KeyPressMsg:
		in = Key{Name: x.String(), Text: x.Text}
	}
	var effect any
	s.model, effect = s.model.Update(in)
	start := s.command(effect)
	if _, isTick := in.(Tick); isTick {
		return s, tea.Batch(start, tick())
	}
	return s, start
}

// View is that of the model, on the alternate screen of the terminal.
func (s screen) View() tea.View {
	v := tea.NewView(s.model.View())
	v.AltScreen = true
	return v
}

// command returns what carries out an effect, and ends with its message.
func (s screen) command(effect any) tea.Cmd {
	switch x := effect.(type) {
	case ReadData:
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(s.ctx, readLimit)
			defer cancel()
			d, err := Read(ctx, s.api, x.State)
			return Answer{d, err}
		}
	case Count:
		return func() tea.Msg {
			seen, err := s.api.CountTasks(s.ctx, x.Order.Filter)
			return Counted{x.Order, seen, err}
		}
	case Do:
		return func() tea.Msg {
			text, err := do(s.ctx, s.api, x.Order)
			return Done{text, err}
		}
	case Quit:
		return tea.Quit
	}
	return nil
}
