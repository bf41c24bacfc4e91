package docs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

var update = flag.Bool("update", false, "write docs/diagrams and docs/demo.svg")

const (
	diagrams      = root + "/docs/diagrams/"
	workItemTrace = diagrams + "work-item.jsonl"
)

// An arrow of a graph, with names in place of numbers.
type arrow struct{ from, to, label string }

// graph makes a graph whose first layer is start.
func graph(title, start string, arrows []arrow) draw.Graph {
	g := draw.Graph{Title: title}
	number := map[string]int{}
	node := func(label string) int {
		i, ok := number[label]
		if !ok {
			i = len(g.Nodes)
			number[label] = i
			g.Nodes = append(g.Nodes, draw.Node{Label: label})
		}
		return i
	}
	g.Nodes[node(start)].Mark = draw.Start
	for _, a := range arrows {
		g.Edges = append(g.Edges, draw.Edge{From: node(a.from), To: node(a.to), Label: a.label})
	}
	return g
}

const (
	catalogNode = "catalog\norigins, episodes, clips, findings, problems"
	idle        = `("worker-7f3a9c01", "idle", since)`
	busy        = `("worker-7f3a9c01", "busy", since)`
	originsNode = "origins\nfeeds, folders, repositories"
)

var graphs = map[string]draw.Graph{
	"system": graph("The system: processes, spaces and data", "coordinator\nvisit scheduler, gate, API, page", []arrow{
		{"coordinator\nvisit scheduler, gate, API, page", "space visit", "schedule"},
		{"coordinator\nvisit scheduler, gate, API, page", catalogNode, "API, page"},
		{"space visit", "manager", "take"},
		{"manager", originsNode, "list"},
		{"manager", "spaces lease, task", "issue"},
		{"manager", catalogNode, "curate, ingest"},
		{"spaces lease, task", "worker", "claim"},
		{"worker", originsNode, "fetch"},
		{"worker", "space result", "report"},
		{"space result", "manager", "take"},
	}),
	"node": graph("One node: packages of a coordinator process", "clients\nmanagers, workers, commands, browsers", []arrow{
		{"clients\nmanagers, workers, commands, browsers", "coordinator/gate/native\nconnections, sessions", "frames (7411)"},
		{"clients\nmanagers, workers, commands, browsers", "coordinator/api, dashboard\nJSON, page, metrics", "HTTP (7412)"},
		{"coordinator/gate/native\nconnections, sessions", "shared/space/engine\nspaces, waiters, holds, timers", "requests"},
		{"coordinator/api, dashboard\nJSON, page, metrics", "shared/space/engine\nspaces, waiters, holds, timers", "requests"},
		{"coordinator/api, dashboard\nJSON, page, metrics", "shared/catalog/store\norigins, episodes, clips, findings", "reads"},
		{"shared/space/engine\nspaces, waiters, holds, timers", "shared/protocol/lease, task, work, status, visit\nprocedures", "runs"},
		{"shared/space/engine\nspaces, waiters, holds, timers", "shared/space/journal/pebble\nDIR/journal", "commits"},
		{"shared/space/engine\nspaces, waiters, holds, timers", "coordinator\nvisit scheduler", "outcomes"},
		{"coordinator\nvisit scheduler", "coordinator/visits\nvisit states, queues", "claim, record"},
		{"coordinator/visits\nvisit states, queues", "shared/catalog/sqlfile\nDIR/catalog.db: one writer, several readers", ""},
		{"shared/catalog/store\norigins, episodes, clips, findings", "shared/catalog/sqlfile\nDIR/catalog.db: one writer, several readers", ""},
	}),
	"status": graph("The status protocol: one session", "not connected", []arrow{
		{"not connected", idle, "first heartbeat: put"},
		{idle, busy, "claim: replace"},
		{idle, "closed\ntuple removed", "drain: close"},
		{busy, idle, "last task done: replace"},
		{busy, "lost\ntuple removed, holds return", "no heartbeat for 6 s"},
	}),
}

func TestDiagramsAreUpToDate(t *testing.T) {
	t.Parallel()
	if *update {
		require.NoError(t, os.MkdirAll(diagrams, 0o755)) //nolint:gosec // documents are for all
		require.NoError(t, os.WriteFile(workItemTrace, traceWorkItem(t), 0o600))
	}
	trace, err := os.ReadFile(workItemTrace)
	require.NoError(t, err)
	all := map[string]string{"work-item": draw.SequenceSVG(sequenceOf(t, trace))}
	for name, g := range graphs {
		all[name] = g.SVG()
	}
	for name, svg := range all {
		file := diagrams + name + ".svg"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(svg), 0o600))
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, svg, string(content), "docs/diagrams/%s.svg is old: make diagrams", name)
	}
}

// An event is a line of a trace (docs/trace.md).
type event struct {
	Seq       int64  `json:"seq"`
	Clock     int64  `json:"clock"`
	Process   string `json:"process"`
	Procedure string `json:"procedure"`
	Operation string `json:"operation"`
	Space     string `json:"space"`
	Tuple     string `json:"tuple"`
	Lease     string `json:"lease"`
}

// traceWorkItem runs one episode and two clips of the example, and returns the events
// of the only work-item. Bodies are cut, because they are long and name files.
func traceWorkItem(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	for folder, names := range map[string][]string{"episodes": {"one.mp3"}, "clips": {"jingle.wav", "drums.flac"}} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(root, "examples/podcast", folder, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, folder, name), content, 0o600))
		}
	}
	c := exec.Command(filepath.Join(binaryDir, "leasehold"), "run", dir+"/episodes", dir+"/clips", "--until-idle", "--workers", "1", "--data", dir+"/data", "--trace", dir+"/trace")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(dir + "/trace")
	require.NoError(t, err)
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		var e event
		require.NoError(t, json.Unmarshal(line, &e))
		if e.Lease == "" {
			continue
		}
		if i := strings.Index(e.Tuple, `, "{`); i > 0 {
			e.Tuple = e.Tuple[:i] + ", …)"
		}
		line, err := json.Marshal(e)
		require.NoError(t, err)
		kept.Write(append(line, '\n'))
	}
	return kept.Bytes()
}

var hexID = regexp.MustCompile(`"[0-9a-f]{12}(?:,[0-9a-f]{12})*"`)

// sequenceOf makes of the events of one work-item what draw.SequenceSVG draws: a step
// for each procedure, with its changes.
func sequenceOf(t *testing.T, trace []byte) *explore.Trace {
	t.Helper()
	s := &explore.Trace{Cycle: -1}
	for _, role := range []string{"manager", "worker"} {
		s.End.Processes = append(s.End.Processes, explore.ProcConfig{Name: role, Terminated: true})
	}
	for _, name := range []string{"lease", "task", "result"} {
		s.End.Spaces = append(s.End.Spaces, explore.SpaceConfig{Name: name})
	}
	var last event
	for line := range bytes.Lines(trace) {
		var e event
		require.NoError(t, json.Unmarshal(line, &e))
		role, _, _ := strings.Cut(e.Process, "-")
		if e.Clock != last.Clock || e.Procedure != last.Procedure {
			s.Steps = append(s.Steps, explore.Step{Process: role, Actions: []explore.Action{{Text: e.Procedure}}})
		}
		step := &s.Steps[len(s.Steps)-1]
		a := explore.Action{Verb: e.Operation, Space: e.Space, Tuple: brief(e)}
		if e.Operation == "replace" { // an arrow to the space, as a put
			a.Verb, a.Tuple = "put", a.Tuple+" in place"
		}
		if n := len(step.Actions); step.Actions[n-1] != a {
			step.Actions = append(step.Actions, a)
		}
		last = e
	}
	return s
}

// brief returns the fields of a tuple that a reader of the diagram needs.
func brief(e event) string {
	fields := strings.Split(strings.Trim(hexID.ReplaceAllString(e.Tuple, "…"), "()"), ", ")
	switch e.Space {
	case "lease":
		return fmt.Sprintf("(%s, token %s)", fields[1], fields[len(fields)-1])
	case "task":
		return fmt.Sprintf("(%s, %s, token %s)", fields[2], fields[3], fields[4])
	}
	return fmt.Sprintf("(%s, final %s)", fields[4], fields[7])
}
