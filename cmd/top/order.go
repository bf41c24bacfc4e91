package top

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// An Order is an operation of the API that a key starts.
type Order struct {
	Operation string            // id, as in types.Caller
	Target    string            // the action, task, session or attention item
	Filter    client.TaskFilter // of a selection
	Seen      types.TaskCount   // of a selection: what the person saw
	Remedy    *models.Remedy    // of an attention item
}

// The operations that change a selection, with their verbs for client.Bulk.
var bulkVerbs = map[string]string{"requeueSelected": client.BulkRequeue, "discardSelected": client.BulkDiscard, "cancelSelected": client.BulkCancel}

// selects reports whether the order changes tasks that have to be counted first.
func (o Order) selects() bool { return o.Remedy == nil && bulkVerbs[o.Operation] != "" }

// asks reports whether a person has to confirm the order.
func (o Order) asks() bool {
	if o.Remedy != nil {
		return o.Remedy.Lasting
	}
	return !slices.Contains([]string{"pauseAction", "resumeAction", "requeueDead"}, o.Operation)
}

// question is what the person confirms.
func (o Order) question() string {
	switch o.Operation {
	case "requeueSelected":
		return fmt.Sprintf("requeue %d dead letters of %s?", o.Seen.Count, o.Target)
	case "discardSelected":
		return fmt.Sprintf("discard %d dead letters of %s?", o.Seen.Count, o.Target)
	case "cancelSelected":
		return fmt.Sprintf("cancel %d tasks of %s?", o.Seen.Count, o.Target)
	}
	return o.label() + " " + o.Target + "?"
}

// labels are the words for operations in the list of keys.
var labels = map[string]string{
	"pauseAction": "pause", "resumeAction": "resume", "requeueSelected": "requeue dead", "discardSelected": "discard dead", "cancelSelected": "cancel all",
	"drainSession": "drain", "requeueDead": "requeue", "discardDead": "discard", "cancelTask": "cancel",
}

func (o Order) label() string {
	if o.Remedy != nil {
		return o.Remedy.Label
	}
	return labels[o.Operation]
}

// do carries an order out, and returns what happened, for people.
func do(ctx context.Context, api *client.Client, o Order) (string, error) {
	done := o.label() + " " + o.Target + ": done"
	switch o.Operation {
	case "pauseAction":
		_, err := api.PauseActionFor(ctx, o.Target, "")
		return done, err
	case "resumeAction":
		_, err := api.ResumeAction(ctx, o.Target)
		return done, err
	case "drainSession":
		return done, api.Drain(ctx, o.Target)
	case "requeueDead":
		_, err := api.Requeue(ctx, o.Target)
		return done, err
	case "discardDead":
		return done, api.Discard(ctx, o.Target)
	case "cancelTask":
		return done, api.CancelTask(ctx, o.Target, "")
	case "requeueSelected", "discardSelected", "cancelSelected":
		return changeSelected(ctx, api, o)
	}
	return done, request(ctx, api, *o.Remedy)
}

// changeSelected changes a selection, and returns how many tasks were changed.
func changeSelected(ctx context.Context, api *client.Client, o Order) (string, error) {
	changed, refused := 0, 0
	err := api.Bulk(ctx, bulkVerbs[o.Operation], o.Filter, o.Seen, "", func(part types.BulkResult) error {
		changed, refused = changed+len(part.Done), refused+len(part.Refused)
		return nil
	})
	text := fmt.Sprintf("%s: %d changed", o.label(), changed)
	if refused > 0 {
		text += fmt.Sprintf(", %d could not be", refused)
	}
	return text, err
}

// request carries out the operation of a remedy that has no method here.
func request(ctx context.Context, api *client.Client, r models.Remedy) error {
	method, target, _ := strings.Cut(r.Request, " ")
	path, query, _ := strings.Cut(target, "?")
	values, err := url.ParseQuery(query)
	if err != nil || path == "" {
		return fmt.Errorf("%s: %w: the coordinator names no request for it", r.Operation, fault.ErrInvalid)
	}
	call := client.Call{Method: method, Path: strings.TrimPrefix(path, "/"), Query: values}
	if len(r.Body) > 0 {
		call.Body = r.Body
	}
	_, err = api.Do(ctx, call)
	return err
}

// orderOf returns the order for the remedy of an item.
func orderOf(i models.Attention) Order {
	r := *i.Remedy
	o := Order{Operation: r.Operation, Target: i.About, Remedy: &r}
	var body types.BulkCancel
	if bulkVerbs[r.Operation] == "" || json.Unmarshal(r.Body, &body) != nil {
		if target := targetOf(r.Params); target != "" {
			o.Target = target
		}
		return o
	}
	o.Filter = client.TaskFilter{
		State: body.State, Action: body.Action, Tag: body.Tag, Group: body.Group, Text: body.Text, Data: body.Data,
		Older: time.Duration(body.Older) * time.Second, Younger: time.Duration(body.Younger) * time.Second,
	}
	o.Seen = types.TaskCount{Count: body.Count, At: body.Before}
	return o
}

// targetOf returns the one parameter of a remedy; empty if there are none or several.
func targetOf(params map[string]string) string {
	if len(params) != 1 {
		return ""
	}
	for _, v := range params {
		return v
	}
	return ""
}
