package gitrepo_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"leasehold/shared/code/gitrepo"
)

// Fetch a repository, list its files and read them.
func Example() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	origin := filepath.Join(dir, "origin")
	script := `git init -q -b main "$0" && cd "$0" && echo hello > hello.txt && git add . && git -c user.name=a -c user.email=a@b commit -q -m x`
	_ = exec.Command("sh", "-c", script, origin).Run()

	ctx := context.Background()
	store, _ := gitrepo.Open(gitrepo.Config{Dir: filepath.Join(dir, "mirrors"), Schemes: []string{"https"}})
	mirror, _ := store.Mirror("example", origin, true)
	defer mirror.Close()
	branches, _ := mirror.Fetch(ctx, gitrepo.Wanted{Branches: []string{"HEAD"}})
	for _, b := range branches {
		files, _ := mirror.Files(ctx, b.Commit)
		for _, f := range files {
			_ = mirror.Blobs(ctx, []string{f.OID}, 1<<20, func(_ string, content []byte, _ error) error {
				fmt.Printf("%s %s %d bytes: %s", b.Name, f.Path, f.Size, content)
				return nil
			})
		}
	}
	// Output: main hello.txt 6 bytes: hello
}
