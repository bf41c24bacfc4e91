package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

func ExampleClient_Spaces() {
	coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items": [{"name": "task", "kind": "ordered", "visible": 2}], "total": 1}`)
	}))
	defer coordinator.Close()

	c, err := client.New(coordinator.URL)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	spaces, err := c.Spaces(context.Background())
	if err != nil {
		panic(err)
	}
	for _, s := range spaces {
		fmt.Println(s.Name, s.Kind, s.Visible)
	}
	// Output: task ordered 2
}

// A worker claims a task and resolves it.
func ExampleWorkerSession() {
	coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/sessions":
			fmt.Fprint(w, `{"id": "worker-1", "ttl": 30}`)
		case "/api/v1/sessions/worker-1/claims":
			fmt.Fprint(w, `{"items": [{"id": "t1", "action": "count", "data": {"n": 1}, "token": 7}]}`)
		case "/api/v1/sessions/worker-1/claims/t1/resolve":
			fmt.Fprint(w, `{"items": []}`)
		}
	}))
	defer coordinator.Close()

	ctx := context.Background()
	c, err := client.New(coordinator.URL)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	s, err := c.OpenWorker(ctx, types.NewSession{Name: "counter-1"})
	if err != nil {
		panic(err)
	}
	tasks, err := s.Claim(ctx, 1, 20*time.Second, "count")
	if err != nil {
		panic(err)
	}
	for _, t := range tasks {
		_, err := s.Resolve(ctx, t, []byte(`2`))
		fmt.Println(t.ID, string(t.Data), err)
	}
	// Output: t1 {"n": 1} <nil>
}
