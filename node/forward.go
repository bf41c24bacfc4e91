package node

import (
	"context"
	"sync"

	"leasehold/shared/status"
)

// forwarding calls run while f puts the lines of the log, and waits for both.
func forwarding(ctx context.Context, f *status.Forwarder, run func() error) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var putting sync.WaitGroup
	putting.Go(func() { f.Run(ctx) })
	defer putting.Wait()
	defer cancel()
	return run()
}
