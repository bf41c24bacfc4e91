package types_test

import (
	"encoding/json"
	"fmt"

	"leasehold/shared/api/types"
)

func ExamplePage() {
	var page types.Page[types.Task]
	err := json.Unmarshal([]byte(`{"items": [{"id": "t1", "action": "count", "state": "waiting"}], "total": 7}`), &page)
	fmt.Println(page.Items[0].ID, page.Items[0].State, "1 of", page.Total, err)
	// Output: t1 waiting 1 of 7 <nil>
}
