package conform_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// The model does not allow a lock to be taken twice in a row.
func Example() {
	log := `{"seq":1,"clock":0,"process":"","operation":"reload","space":"","result":"ok"}
{"seq":2,"clock":1,"process":"","operation":"put","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"}
{"seq":3,"clock":2,"process":"","operation":"take","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"}
{"seq":4,"clock":3,"process":"","operation":"put","space":"lock","tuple":"(\"free\", \"a\")","ref":2,"result":"ok"}
{"seq":5,"clock":3,"process":"","operation":"put","space":"lock","tuple":"(\"free\", \"a\")","ref":3,"result":"ok"}
`
	m, err := conform.ParseMap("lock.map", `instance name;
on put lock ("free", name) -> Lock.put(1);
on take lock ("free", name) by User -> Lock.get(1);`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := syntax.ParseWith("lock.tup", "Lock = (R, 1, {})\n---\npar proc Owner = Lock.put(1) [] proc User = loop true -> Lock.get(1); Lock.put(1) pool rap", m.Constants)
	model, _ := explore.Compile(p, 0)
	c, _ := conform.New(model, m, conform.Options{})
	r, err := c.Check(context.Background(), "trace.jsonl", strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = r.Text(os.Stdout)
	// Output:
	// trace.jsonl: violates lock.tup
	//   5 events, 4 covered by lock.map; 1 instance, 1 reload, 5 states of the model
	//
	// trace.jsonl:5: no step of the model explains this event
	//   0s - put lock ("free", "a")
	//   in lock.tup this is any process: Lock.put(1)
	// instance: name a
	// the model allows:
	//   User: Lock.get(1)
	//       in the log: take lock ("free", …)
	// logged before:
	//   line 2                0s - put lock ("free", "a")
	//   line 3                0s - take lock ("free", "a")
	//   line 4                0s - put lock ("free", "a")
	// state of the model (1 other state is possible):
	//   Lock holds (1)
}
