package opensearchtest

import (
	"net/http"
	"os"
	"sync"
	"testing"

	"leasehold/internal/faketime"
)

// one is the server of all tests of a package.
var one struct {
	sync.Mutex
	url, why string // why is the reason if url is empty
	asked    bool
	node     *Node // nil: TEST_ES_URL names the server, or there is none
	folder   string
}

// URL returns the URL of the real server, which the first call starts. All tests of a package share it. If there is
// none, URL returns "", and the log of the test names the check that is left out, and the reason.
func URL(t testing.TB, check string) string {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	if !one.asked {
		one.asked = true
		start(t)
	}
	if one.url == "" {
		t.Logf("left out: %s on a real search server, because %s", check, one.why)
	}
	return one.url
}

// CanStart reports whether Start can start a node. If it cannot, the log of the test names the check that is left out, and
// the reason.
func CanStart(t testing.TB, check string) bool {
	t.Helper()
	_, why := installed()
	if why != "" {
		t.Logf("left out: %s on a real search server, because %s", check, why)
	}
	return why == ""
}

// CanClock reports whether Options.Clock can be used. If it cannot, the log of the test names the check that it leaves
// out.
func CanClock(t testing.TB, check string) bool {
	t.Helper()
	if !faketime.Installed() {
		t.Logf("left out: %s on a real search server, because libfaketime is not installed", check)
	}
	return faketime.Installed()
}

// start sets one. A node that does not start fails the test.
func start(t testing.TB) {
	t.Helper()
	one.url = os.Getenv("TEST_ES_URL")
	if one.url != "" {
		return
	}
	_, one.why = installed()
	if one.why != "" {
		return
	}
	var err error
	if one.folder, err = os.MkdirTemp("", "opensearch-"); err == nil {
		one.node, err = Start(one.folder, Options{})
	}
	if err != nil {
		one.why = "it did not start"
		t.Fatal(err)
	}
	one.url = one.node.URL
}

// RemoveIndices deletes the indices whose names begin with prefix, if the server at url is the one that
// TEST_ES_URL names. A node goes with all of its data.
func RemoveIndices(t testing.TB, url, prefix string) {
	t.Helper()
	if url != os.Getenv("TEST_ES_URL") {
		return
	}
	r, err := http.NewRequest(http.MethodDelete, url+"/"+prefix+"*", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the indices %s* are not removed: %s", prefix, answer.Status)
	}
}

// Main returns m with the end of the server behind the tests, for goleak.VerifyTestMain.
func Main(m *testing.M) Tests { return Tests{m} }

// Tests are the tests of a package.
type Tests struct{ m *testing.M }

// Run runs the tests, ends the server that URL has started, and removes its data.
func (t Tests) Run() int {
	defer stop()
	return t.m.Run()
}

func stop() {
	one.Lock()
	defer one.Unlock()
	if one.node != nil {
		one.node.Stop()
	}
	if one.folder != "" {
		_ = os.RemoveAll(one.folder)
	}
}
