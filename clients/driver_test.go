package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// driver is the process of a driver: the program of a client that executes lines.
type driver struct {
	t       *testing.T
	dies    bool // a signal ends it, once the worker has returned: the JVM
	process *exec.Cmd
	in      io.WriteCloser
	answers chan any // lines with ok or error; closed when the process has ended
	ended   chan error
	printed bytes.Buffer // by the log of the client; read after the end only

	mu     sync.Mutex     // guards the fields below
	events map[string]int // how often each came
	news   chan struct{}  // closed by the next event
}

// startDriver starts the driver of a language with further settings.
func startDriver(t *testing.T, l language, environment ...string) *driver {
	t.Helper()
	words := l.run
	if l.client == "go" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		words = []string{program}
	}
	d := &driver{t: t, process: exec.Command(words[0], words[1:]...), answers: make(chan any, 1), ended: make(chan error, 1), events: map[string]int{}, news: make(chan struct{})}
	d.dies = l.client == "java"
	d.process.Env = append(append(withoutSettings(), "CLIENT_DRIVER="+l.client), environment...)
	d.process.Stderr = &d.printed
	if l.client != "go" {
		d.process.Dir = l.client
	}
	var err error
	if d.in, err = d.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := d.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		d.read(out)
		d.ended <- d.process.Wait()
		close(d.answers)
	}()
	return d
}

// read reads lines until there are no more.
func (d *driver) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		read, ok := parse(lines.Bytes()).(map[string]any)
		if !ok {
			continue
		}
		event, ok := read["event"]
		if !ok {
			d.answers <- read
			continue
		}
		d.mu.Lock()
		d.events[fmt.Sprint(event, " ", read["task"])]++
		close(d.news)
		d.news = make(chan struct{})
		d.mu.Unlock()
	}
}

// send sends a line.
func (d *driver) send(arguments map[string]any) {
	d.t.Helper()
	text, err := json.Marshal(arguments)
	if err == nil {
		_, err = d.in.Write(append(text, '\n'))
	}
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", arguments["do"], err, d.end())
	}
}

// answer returns the answer to the line before: its value, or its error.
func (d *driver) answer() (value any, failed map[string]any) {
	d.t.Helper()
	select {
	case read, ok := <-d.answers:
		if !ok {
			d.t.Fatalf("the driver ended\n%s", d.end())
		}
		line := read.(map[string]any)
		if err, ok := line["error"]; ok {
			return nil, err.(map[string]any)
		}
		return line["ok"], nil
	case <-time.After(limit):
		d.t.Fatalf("no answer in %s\n%s", limit, d.end())
	}
	return nil, nil
}

// await waits for an event.
func (d *driver) await(event, task string, within time.Duration) {
	d.t.Helper()
	for late := time.After(within); ; {
		d.mu.Lock()
		seen, news := d.events[event+" "+task], d.news
		d.mu.Unlock()
		if seen > 0 {
			return
		}
		select {
		case <-news:
		case <-late:
			d.t.Fatalf("no event %s of %s in %s\n%s", event, task, within, d.end())
		}
	}
}

// count returns how often an event came.
func (d *driver) count(event, task string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.events[event+" "+task]
}

// finish waits until the worker has returned. After a signal, a JVM exits with 143 then: it is gone.
func (d *driver) finish(within time.Duration, signalled bool) (gone bool) {
	d.t.Helper()
	select {
	case read, ok := <-d.answers:
		if !ok {
			err := <-d.ended
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
				d.t.Fatalf("the worker ended: %v\n%s", err, &d.printed)
			}
			return true
		}
		if err, failed := read.(map[string]any)["error"]; failed {
			d.t.Fatalf("the worker ended: %s\n%s", short(err), d.end())
		}
		if d.dies && signalled {
			return d.finish(within, signalled)
		}
	case <-time.After(within):
		d.t.Fatalf("the worker does not end\n%s", d.end())
	}
	return false
}

// end ends the process if it runs, and returns the end of its log.
func (d *driver) end() string {
	_ = d.in.Close()
	_ = d.process.Process.Kill() // it may have ended
	for range d.answers {
		continue // until it has ended
	}
	var text strings.Builder
	for line := range strings.Lines(d.printed.String()) {
		fmt.Fprintf(&text, "%.300s\n", strings.TrimSpace(line))
	}
	fmt.Fprintln(&text, "events:", slices.Sorted(maps.Keys(d.events)))
	return text.String()[max(0, text.Len()-4000):]
}

// language is a client: the programs that it needs, how it is built, and how its programs are started in its folder: the
// driver, and the examples, which run if the command probe succeeds.
type language struct {
	name             string
	client           string // its folder
	worksOnly        bool   // only the cases with a worker, whose handlers are coroutines
	needs            []string
	build            func() ([]byte, error)
	run, web, worker []string
	probe            []string
}

var languages = []language{
	{
		name: "python", client: "python", needs: []string{"python3"}, run: []string{"python3", "-B", "driver.py"},
		web: []string{"python3", "-B", "examples/web.py"}, worker: []string{"python3", "-B", "examples/worker.py"},
		probe: []string{"python3", "-c", "import flask"},
	},
	{
		name: "javascript", client: "javascript", needs: []string{"node"}, run: []string{"node", "driver.js"},
		web: []string{"node", "examples/web.js"}, worker: []string{"node", "examples/worker.js"},
	},
	{
		name: "java", client: "java", needs: []string{"java", "javac"}, build: compileJava,
		run: javaProgram("leasehold.Driver"), web: javaProgram("Web"), worker: javaProgram("Work"),
	},
	{name: "python-async", client: "python", worksOnly: true, needs: []string{"python3"}, run: []string{"python3", "-B", "driver.py"}},
	{name: "go", client: "go"}, // this test's own program
}

func javaProgram(class string) []string {
	return []string{"java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", classes, class}
}

// shared is a folder for what the tests of this package build once: leasehold, and the classes of compileJava.
var (
	shared  = filepath.Join(os.TempDir(), fmt.Sprintf("leasehold-clients-%d", os.Getpid()))
	classes = filepath.Join(shared, "classes")
)

// TestMain is the driver for Go if CLIENT_DRIVER is go.
func TestMain(m *testing.M) {
	if os.Getenv("CLIENT_DRIVER") == "go" {
		if err := runGoDriver(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	status := m.Run()
	if err := os.RemoveAll(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

var compileJava = sync.OnceValues(func() ([]byte, error) {
	c := exec.Command("javac", "-d", classes, "Leasehold.java", "Driver.java", "examples/Web.java", "examples/Work.java")
	c.Dir = "java"
	return c.CombinedOutput()
})

// inEachLanguage builds each client, and tests it beside the others. A client whose programs are not installed is left
// out.
func inEachLanguage(t *testing.T, but []string, test func(t *testing.T, l language)) {
	for _, l := range languages {
		if slices.Contains(but, l.name) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range l.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Logf("left out: the client for %s, because %s is not installed", l.name, program)
					return
				}
			}
			if l.build != nil {
				if printed, err := l.build(); err != nil {
					t.Fatalf("%v\n%s", err, printed)
				}
			}
			test(t, l)
		})
	}
}
