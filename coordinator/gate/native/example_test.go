package native_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// An engine, a gate that opens it to a network, and a client.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	e, err := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = native.New(native.Config{Engine: e}).Serve(ctx, l) })

	c, err := remote.Dial(ctx, remote.Config{Address: l.Addr().String(), Mode: "client", Session: remote.SessionID("client")})
	if err != nil {
		fmt.Println(err)
		return
	}
	repo := space.Over(c)
	_ = repo.Create(ctx, "greetings", space.Options{})
	_ = repo.Space("greetings").Put(ctx, tuple.New("hello", "world"), 0)
	got, err := repo.Space("greetings").Get(ctx, tuple.Match("hello", tuple.AnyString))
	fmt.Println(got, err)
	fmt.Println(repo.Close(ctx))
	// Output:
	// ("hello", "world") <nil>
	// <nil>
}
