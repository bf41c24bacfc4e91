package spaces_test

import (
	"context"
	"fmt"
	"os"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

// A program hosts spaces.
func Example() {
	ctx := context.Background()
	host, _ := spaces.Start(spaces.Config{})
	defer host.Stop()
	repo, _ := host.Repository(ctx, "main-1")
	_ = repo.Create(ctx, "fridge", space.Options{})
	_ = repo.Space("fridge").Put(ctx, tuple.New("milk", int64(2)), 0)
	fmt.Println(repo.Space("fridge").Get(ctx, tuple.Match("milk", tuple.AnyInt64)))
	// Output:
	// ("milk", 2) <nil>
}

// With a folder the tuples outlive the program.
func ExampleConfig_folder() {
	ctx := context.Background()
	folder, _ := os.MkdirTemp("", "spaces")
	defer os.RemoveAll(folder)
	for run := range 2 {
		host, err := spaces.Start(spaces.Config{Folder: folder})
		if err != nil {
			fmt.Println(err)
			return
		}
		repo, _ := host.Repository(ctx, fmt.Sprintf("main-%d", run))
		_ = repo.Create(ctx, "diary", space.Options{})
		_ = repo.Space("diary").Put(ctx, tuple.New("run", int64(run)), 0)
		fmt.Println(repo.Space("diary").QueryAll(ctx, tuple.Match("run", tuple.AnyInt64)))
		_ = host.Stop()
	}
	// Output:
	// [("run", 0)] <nil>
	// [("run", 0) ("run", 1)] <nil>
}

// A host opens a gate to other programs, and closes it.
func ExampleHost_OpenGate() {
	ctx := context.Background()
	host, _ := spaces.Start(spaces.Config{})
	defer host.Stop()
	repo, _ := host.Repository(ctx, "main-1")
	_ = repo.Create(ctx, "box", space.Options{})
	address, err := host.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	other, _ := spaces.Dial(ctx, address, "other-1")
	_ = other.Space("box").Put(ctx, tuple.New("from elsewhere"), 0)
	fmt.Println(repo.Space("box").Get(ctx, tuple.Match(tuple.AnyString)))
	fmt.Println(other.Close(ctx), host.CloseGate(address))
	_, err = host.OpenGate(spaces.Gate{Protocol: spaces.PSpace, Address: ":0"})
	fmt.Println(err)
	// Output:
	// ("from elsewhere") <nil>
	// <nil> <nil>
	// gate :0: other machines reach it, and gates do not authenticate: use 127.0.0.1 or Config.Insecure: forbidden
}

// A repository has spaces of this program and of others.
func ExampleRepository_Join() {
	ctx := context.Background()
	there, _ := spaces.Start(spaces.Config{})
	defer there.Stop()
	elsewhere, _ := there.Repository(ctx, "main-1")
	_ = elsewhere.Create(ctx, "orders", space.Options{})
	address, _ := there.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})

	host, _ := spaces.Start(spaces.Config{})
	defer host.Stop()
	repo, _ := host.Repository(ctx, "main-1")
	_ = repo.Create(ctx, "notes", space.Options{})
	if err := repo.Join(ctx, "shop", "tcp://"+address+"/orders"); err != nil {
		fmt.Println(err)
		return
	}
	_ = repo.Space("shop").Put(ctx, tuple.New("tea", int64(1)), 0)
	_ = repo.Space("notes").Put(ctx, tuple.New("ordered tea"), 0)
	fmt.Println(elsewhere.Space("orders").Get(ctx, tuple.Match("tea", tuple.AnyInt64)))
	fmt.Println(repo.Joined(), repo.Close(ctx))
	// Output:
	// ("tea", 1) <nil>
	// [shop] <nil>
}
