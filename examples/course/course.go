// Package course runs the programs of the course in examples/README.md: each has spaces, and
// roles that know only the spaces. A program is the same in one process, over a network, and
// through a gate for foreign programs.
package course

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"leasehold/shared/space"
	"leasehold/shared/space/trace"
	"leasehold/spaces"
)

// Program is one program of the course.
type Program struct {
	Spaces     map[string]space.Options
	Procedures space.Procedures
	First      func(ctx context.Context, m *Member) error // runs before the roles, as main-1; or nil
	Roles      []Role
}

// Role is a part of a program, which is played by Count members.
type Role struct {
	Name    string
	Count   int  // 0: 1
	Endless bool // ended when all others have returned
	Run     func(ctx context.Context, m *Member) error
}

// Member is one player of a role, with a session of its own: ROLE-NUMBER.
type Member struct {
	space.Repository
	Number int64 // from 1
	Print  func(format string, args ...any)
	// Again opens a new session for the member under another number, as a restarted process does.
	Again func(ctx context.Context, number int64) (*Member, error)
}

// Config is how a program runs.
type Config struct {
	Out   io.Writer         // for what the members print, a line at a time
	Trace func(trace.Event) // or nil
	// Connect returns what opens sessions at the host; nil: in this process.
	Connect func(h *spaces.Host) (Opener, error)
}

// Opener opens a session.
type Opener func(ctx context.Context, session string) (space.Repository, error)

// Run runs the program until all members that end have returned, and returns the first error.
// Endless members are stopped then. The host of the spaces ends last.
func (p Program) Run(ctx context.Context, c Config) (err error) {
	host, err := spaces.Start(spaces.Config{Procedures: p.Procedures, Trace: c.Trace})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Stop()) }()
	open := func(ctx context.Context, session string) (space.Repository, error) {
		return host.Repository(ctx, session)
	}
	main, err := p.prepare(ctx, open, c.Out)
	if err != nil {
		return err
	}
	if c.Connect != nil {
		if open, err = c.Connect(host); err != nil {
			return err
		}
	}
	return p.play(ctx, open, main.Print)
}

// prepare makes the spaces and their first tuples, and returns the member that made them. Members print one line
// at a time, because they share out.
func (p Program) prepare(ctx context.Context, open Opener, out io.Writer) (*Member, error) {
	var mu sync.Mutex // guards out
	print := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	main, err := join(ctx, open, "main", 1, print)
	if err != nil {
		return nil, err
	}
	for name, options := range p.Spaces {
		if err := main.Create(ctx, name, options); err != nil {
			return nil, err
		}
	}
	if p.First != nil {
		err = p.First(ctx, main)
	}
	return main, err
}

// play starts all members, waits for those that end, and then stops the endless ones and waits
// for them. The first error of a member stops all, and is returned; an error after that, and one
// because all are stopped, is not.
func (p Program) play(ctx context.Context, open Opener, print func(string, ...any)) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var ending, endless sync.WaitGroup
	for _, r := range p.Roles {
		group := &ending
		if r.Endless {
			group = &endless
		}
		for number := range int64(max(1, r.Count)) {
			m, err := join(ctx, open, r.Name, number+1, print)
			if err != nil {
				stop(err)
				break
			}
			group.Go(func() {
				if err := r.Run(ctx, m); err != nil && ctx.Err() == nil {
					stop(fmt.Errorf("%s-%d: %w", r.Name, m.Number, err))
				}
			})
		}
	}
	ending.Wait()
	err = context.Cause(ctx)
	stop(nil)
	endless.Wait()
	return err
}

// join opens a session for a member. Member.Again opens one for another number of the same role.
func join(ctx context.Context, open Opener, role string, number int64, print func(string, ...any)) (*Member, error) {
	repo, err := open(ctx, fmt.Sprintf("%s-%d", role, number))
	if err != nil {
		return nil, err
	}
	again := func(ctx context.Context, number int64) (*Member, error) { return join(ctx, open, role, number, print) }
	return &Member{repo, number, print, again}, nil
}
