package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"leasehold/internal/binary"
	"leasehold/shared/process/datadir"
)

// freeAddresses is a command of the scripts: `free-addresses` sets host and api to where a
// coordinator may listen, end, and listen again.
func freeAddresses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: free-addresses")
	}
	for _, name := range []string{"host", "api"} {
		address, err := binary.FreeAddress()
		ts.Check(err)
		ts.Setenv(name, address)
	}
}

// where is a command of the scripts: `where FILE` reads an address file, and sets
// host and api to its addresses.
func where(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: where FILE")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	var at datadir.Addresses
	ts.Check(json.Unmarshal(data, &at))
	ts.Setenv("host", at.Gate)
	ts.Setenv("api", at.HTTP)
}

// awaitState is a command of the scripts: `await-state TEXT` waits until the status of the
// coordinator at $api contains TEXT.
func awaitState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-state TEXT")
	}
	awaitAnswer(ts, "status", args[0])
}

// awaitLog is a command of the scripts: `await-log TEXT` waits until a line of the log has the text.
func awaitLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-log TEXT")
	}
	awaitAnswer(ts, "spaces/log/tuples?limit=100&template=...", args[0])
}

// awaitResearched is a command of the scripts: `await-researched N` waits until N
// pairs are researched.
func awaitResearched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-researched N")
	}
	awaitAnswer(ts, "totals", fmt.Sprintf(`"researched":%s}`, args[0]))
}

// awaitAnswer calls the API until its answer contains text.
func awaitAnswer(ts *testscript.TestScript, path, text string) {
	last := ""
	for deadline := time.Now().Add(processTimeout); time.Now().Before(deadline); {
		<-time.After(10 * time.Millisecond)
		answer, err := http.Get("http://" + ts.Getenv("api") + "/api/v1/" + path)
		if err != nil {
			last = err.Error()
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		last = string(body)
		if strings.Contains(last, text) {
			return
		}
	}
	ts.Fatalf("no %s in %s: %s", text, path, last)
}
