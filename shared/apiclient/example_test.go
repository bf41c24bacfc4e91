package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"leasehold/shared/apiclient"
)

func ExampleClient_Spaces() {
	coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items": [{"name": "task", "kind": "ordered", "visible": 2}], "total": 1}`)
	}))
	defer coordinator.Close()

	c, err := apiclient.New(coordinator.URL)
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
