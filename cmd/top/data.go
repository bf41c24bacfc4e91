package top

import (
	"context"
	"errors"
	"time"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// maxTasks is how many tasks are read.
const maxTasks = 200

// Data is what the screen shows. Its parts are read one after the other, so they are not of the same moment.
type Data struct {
	At          time.Time          `json:"at"` // when it was read, by this machine's clock
	Coordinator string             `json:"coordinator"`
	Caller      types.Caller       `json:"caller"`
	Attention   []models.Attention `json:"attention"`
	Actions     []types.Action     `json:"actions"`
	Workers     []Worker           `json:"workers"`
	Tasks       []types.Task       `json:"tasks"`
	MoreTasks   bool               `json:"more_tasks,omitempty"` // Tasks are only the first
}

// Worker is the session of a worker or a manager, with what it does.
type Worker struct {
	types.OpenSession
	Serves []types.Served `json:"serves"`
	Tasks  []string       `json:"tasks"`
}

// Read reads the data with the tasks of a state; those that are alive if it is empty.
func Read(ctx context.Context, api *client.Client, state string) (d Data, err error) {
	d.Coordinator = api.Base()
	if d.Caller, err = api.Caller(ctx); err != nil {
		return d, err
	}
	report, err := api.Attention(ctx)
	if err != nil && !errors.Is(err, fault.ErrUnavailable) { // a coordinator that has just started has no report
		return d, err
	}
	d.Attention = append([]models.Attention{}, report.Items...)
	actions, err := api.Actions(ctx)
	if err != nil {
		return d, err
	}
	d.Actions = append([]types.Action{}, actions...)
	if d.Workers, err = readWorkers(ctx, api); err != nil {
		return d, err
	}
	tasks, more, err := api.Tasks(ctx, client.TaskFilter{State: state}, maxTasks)
	if err != nil {
		return d, err
	}
	d.Tasks, d.MoreTasks, d.At = append([]types.Task{}, tasks...), more, time.Now()
	return d, nil
}

// readWorkers reads the sessions of workers and managers, and joins them with what they do.
func readWorkers(ctx context.Context, api *client.Client) ([]Worker, error) {
	sessions, err := api.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	status, err := client.List[types.Session](ctx, api, "status", nil, client.PageSize, client.All)
	if err != nil {
		return nil, err
	}
	does := map[string]types.Session{}
	for _, s := range status.Items {
		does[s.ID] = s
	}
	workers := []Worker{}
	for _, s := range sessions {
		if s.Mode != "worker" && s.Mode != "manager" {
			continue
		}
		now := does[s.ID]
		workers = append(workers, Worker{OpenSession: s, Serves: append([]types.Served{}, now.Serves...), Tasks: append([]string{}, now.Tasks...)})
	}
	return workers, nil
}
