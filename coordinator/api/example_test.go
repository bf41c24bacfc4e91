package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
)

// A manager in another process keeps its catalog at the coordinator.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "leasehold-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := store.Open(ctx, filepath.Join(dir, "catalog.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	server := httptest.NewServer(api.New(api.Config{Catalog: store}))
	defer server.Close()

	c, err := apicatalog.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_, err = c.AddOrigin(ctx, models.Origin{ID: "show", Kind: models.Media, URI: "/srv/show"})
	fmt.Println(err)
	n, err := c.Curate(ctx, "show", time.Now(), catalog.Listing{Episodes: []models.Episode{{Recording: models.Recording{Name: "one.mp3"}}}})
	fmt.Println(n.New, err)
	_, err = c.Origin(ctx, "missing")
	fmt.Println(err)
	// Output:
	// <nil>
	// 1 <nil>
	// catalog/remote: GET catalog/origins/missing: catalog.Origin missing: not found
}
