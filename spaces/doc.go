// Package spaces hosts tuple spaces in any Go program: in memory or, with a folder, durable. It
// opens gates through which other programs use them, and joins the spaces of other programs
// into one repository.
//
//	host, err := spaces.Start(spaces.Config{Folder: "spaces"})
//	defer host.Stop()
//	repo, err := host.Repository(ctx, "main-1")
//	repo.Create(ctx, "fridge", space.Options{})
//	repo.Space("fridge").Put(ctx, tuple.New("milk", int64(2)), 0)
//	address, err := host.OpenGate(spaces.Gate{Address: "127.0.0.1:9990"})
//
// Invariants: what was acknowledged is in the folder. One process at a time uses a folder.
// Without Insecure a gate listens on this machine only, because gates do not authenticate.
// Stop returns when all goroutines of the host have ended.
//
// Each space has its own bound (space.Options.Capacity), but their memory together has none. A coordinator (leasehold
// coordinator) bounds that too, and has the protocols of tasks and leases.
package spaces
