package clips_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"leasehold/manager/clips"
	"leasehold/shared/fetch"
)

func ExampleLister() {
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "clips")
	_ = os.Mkdir(folder, 0o700)
	_ = os.WriteFile(filepath.Join(folder, "jingle.wav"), []byte("RIFF"), 0o600)
	_ = os.WriteFile(filepath.Join(folder, "jingle.yaml"), []byte("title: The jingle\npriority: 5\n"), 0o600)
	_ = os.WriteFile(filepath.Join(folder, "silence.mp3"), nil, 0o600)

	fetcher, err := fetch.New(fetch.Config{Dir: filepath.Join(dir, "cache")})
	if err != nil {
		panic(err)
	}
	defer fetcher.Close()
	origins, err := clips.Detect(folder, "")
	if err != nil {
		panic(err)
	}
	lister := clips.Lister{Fetch: fetcher}
	for _, o := range origins {
		if err := fetcher.Trust(o); err != nil {
			panic(err)
		}
		listing, err := lister.List(context.Background(), o)
		if err != nil {
			panic(err)
		}
		for _, c := range listing.Clips {
			fmt.Println(o.Kind, c.Name, c.Title, c.Priority)
		}
		for _, p := range listing.Problems {
			fmt.Println("problem:", p.Item, p.Reason)
		}
	}
	// Output:
	// clips jingle.wav The jingle 5
	// problem: silence.mp3 the file is empty
}
