package page

import (
	"context"
	"fmt"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// runView is the chosen run, the state after it, and the possible next steps.
type runView struct {
	Steps    []stepView     `json:"steps"`
	Ahead    []stepView     `json:"ahead"` // those of session.Ahead
	Choices  []stepView     `json:"choices"`
	End      explore.Config `json:"end"`   // after Steps
	State    string         `json:"state"` // terminated, stuck or extendable
	Reason   string         `json:"reason"`
	Sequence string         `json:"sequence"`
}

type stepView struct {
	Process string `json:"process"`
	Text    string `json:"text"`
	Box     string `json:"box"`
	Line    int    `json:"line"`
}

// run follows the steps that the visitor chose, and returns the state after them and the
// choices for the next one. The error is about a choice that the program does not have.
func (p *Page) run(ctx context.Context, m *explore.Model, s session) (any, error) {
	r := explore.NewRun(m)
	if err := take(ctx, r, s.Choices); err != nil {
		return nil, err
	}
	t := r.Trace()
	v := runView{Steps: stepViews(t.Steps), End: t.End, State: "extendable", Sequence: draw.SequenceSVG(t)}
	can, err := r.Choices()
	v.Choices = stepViews(can)
	switch {
	case err != nil:
		v.State, v.Reason = "stuck", err.Error()
	case len(can) == 0 && r.Terminated():
		v.State = "terminated"
	case len(can) == 0:
		v.State, v.Reason = "stuck", "no process can continue"
	}
	if err := take(ctx, r, s.Ahead); err != nil {
		return nil, err
	}
	v.Ahead = stepViews(r.Trace().Steps[len(t.Steps):])
	return v, nil
}

// take takes steps by their numbers. It fails at one that is not possible, and when ctx ends.
func take(ctx context.Context, r *explore.Run, choices []int) error {
	for _, choice := range choices {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.Take(choice) {
			return fmt.Errorf("step %d has no choice %d: the run is of another program", len(r.Trace().Steps)+1, choice)
		}
	}
	return nil
}

// stepViews returns steps with the texts of their actions, and with the box and the line in it where
// each stands.
func stepViews(all []explore.Step) []stepView {
	views := make([]stepView, len(all))
	for i, st := range all {
		views[i] = stepView{st.Process, draw.ActionsText(st), boxOf(st.Pos), st.Pos.Line}
	}
	return views
}
