package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// Bounds of one request that creates tasks.
const (
	maxBatch      = 1000
	maxBatchBytes = 256 << 10 // of data; a body of the API has at most 1 MiB, with the other fields
)

// createEach creates a task like n for each line of a file, and prints them. Empty lines are
// skipped. Tasks are created in batches while the file is read; if one fails, the error tells up
// to which line there are tasks.
func (a *app) createEach(ctx context.Context, api *client.Client, e eachLine, n types.NewTask, name string, stdin io.Reader) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return usagef("--each: %s", err)
		}
		defer f.Close()
		in = f
	}
	e.api = api
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxData)
	for lines.Scan() {
		e.line++
		data := lines.Bytes()
		if e.line == 1 {
			data = bytes.TrimPrefix(data, []byte("\ufeff"))
		}
		data = bytes.TrimSpace(data)
		if len(data) == 0 {
			continue
		}
		if !json.Valid(data) {
			return e.failed(usagef("line %d must be JSON; got %.100q", e.line, data))
		}
		n.Data = bytes.Clone(data)
		if err := e.add(ctx, n); err != nil {
			return e.failed(err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return e.failed(usagef("line %d of %s is longer than %d bytes", e.line+1, name, maxData))
	} else if err != nil {
		return e.failed(fmt.Errorf("line %d of %s: %w", e.line+1, name, err))
	}
	if err := e.flush(ctx); err != nil {
		return e.failed(err)
	}
	var err error
	if !e.output.structured() {
		_, err = sayf(a.out, "created %d tasks %s\n", e.created, n.Action)
	} else {
		err = show(a, e.output, e.made, "")
	}
	if e.ended > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d tasks ended at once; the first: %w", e.ended, e.created, e.firstEnded))
	}
	return err
}

// eachLine collects the tasks of lines, and creates them in batches.
type eachLine struct {
	api        *client.Client
	output     *output
	operation  *operation
	made       []taskRow // unless they are only counted
	line       int       // that was read last
	done       int       // up to which there are tasks
	created    int
	ended      int // of those created: a limit dropped them, or they died because of a parent
	firstEnded error
	batch      []types.NewTask
	bytes      int
}

// failed returns err, with the number of tasks that were created before if there are any.
func (e *eachLine) failed(err error) error {
	if e.created == 0 {
		return err
	}
	return fmt.Errorf("%d tasks were created, from the lines up to %d: %w", e.created, e.done, err)
}

// add adds the task of the line that was read last to the batch. It creates the batch first if it is full.
func (e *eachLine) add(ctx context.Context, n types.NewTask) error {
	if len(e.batch) == maxBatch || len(e.batch) > 0 && e.bytes+len(n.Data) > maxBatchBytes {
		if err := e.flush(ctx); err != nil {
			return err
		}
		e.done = e.line - 1
	}
	e.batch, e.bytes = append(e.batch, n), e.bytes+len(n.Data)
	return nil
}

// flush creates the tasks of the batch, all or none, and empties it; with an error the batch
// stays. The caller sets done.
func (e *eachLine) flush(ctx context.Context) error {
	if len(e.batch) == 0 {
		return nil
	}
	made, err := e.api.CreateTasks(e.operation.of(ctx, strconv.Itoa(e.created+1)), types.NewTasks{Tasks: e.batch})
	if err != nil {
		return err
	}
	e.created, e.batch, e.bytes = e.created+len(made), nil, 0
	for _, t := range made {
		ended := endedAtOnce(t)
		if ended == nil {
			continue
		}
		if e.ended++; e.firstEnded == nil {
			e.firstEnded = ended
		}
	}
	if e.output.structured() {
		for _, t := range made {
			e.made = append(e.made, taskRow{t})
		}
	}
	return nil
}
