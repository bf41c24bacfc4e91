package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func Example() {
	dir, err := os.MkdirTemp("", "fetch")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "jingle.wav")
	if err := os.WriteFile(path, []byte("la la"), 0o600); err != nil {
		panic(err)
	}
	f, err := fetch.New(fetch.Config{Dir: filepath.Join(dir, "cache"), Roots: []string{dir}})
	if err != nil {
		panic(err)
	}
	defer f.Close()

	file, err := f.Fetch(context.Background(), models.MediaRef{URI: fetch.FileURI(path)})
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Println(file.Bytes, file.Hash[:15])

	_, err = f.Fetch(context.Background(), models.MediaRef{URI: "http://169.254.169.254/latest/meta-data"})
	fmt.Println(errors.Is(err, fault.ErrInvalid))
	// Output:
	// 5 sha256:9a9e0a33
	// true
}
