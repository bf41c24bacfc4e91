package analyse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

const (
	ctagsTimeout = 10 * time.Second // of one file
	ctagsBytes   = 256 << 20        // that one process reads before it is replaced, because it may leak
	ctagsLine    = 1 << 20          // bytes of one answer
)

// ctagsNames are the names under which ctags gets the files of a language. Names of
// repositories are not passed on.
var ctagsNames = map[string]string{
	"Python": "x.py", "JavaScript": "x.js", "JSX": "x.js", "TypeScript": "x.ts", "Java": "x.java", "C": "x.c", "C++": "x.cpp", "C#": "x.cs",
	"Ruby": "x.rb", "PHP": "x.php", "Rust": "x.rs", "Shell": "x.sh", "Perl": "x.pl", "Lua": "x.lua", "Kotlin": "x.kt", "Elixir": "x.ex",
	"Erlang": "x.erl", "Clojure": "x.clj", "Objective-C": "x.mm", "Pascal": "x.pas", "Fortran": "x.f90", "Haskell": "x.hs", "R": "x.r",
	"Julia": "x.jl", "OCaml": "x.ml", "PowerShell": "x.ps1", "Protocol Buffer": "x.proto", "SQL": "x.sql", "Tcl": "x.tcl", "Verilog": "x.v",
	"VHDL": "x.vhdl", "Vim Script": "x.vim", "CUDA": "x.cu", "D": "x.d", "Emacs Lisp": "x.el", "Common Lisp": "x.lisp", "Scheme": "x.scm",
	"Makefile": "x.mk", "CMake": "x.cmake", "Elm": "x.elm", "Ada": "x.ada", "SystemVerilog": "x.sv",
}

func ctagsKnows(lang string) bool { return ctagsNames[lang] != "" }

// FindCtags returns the path of universal-ctags with JSON output, interactive mode and a
// sandbox; "" if no such program is installed.
func FindCtags(ctx context.Context) string {
	for _, name := range []string{"universal-ctags", "ctags"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--options=NONE", "--quiet=yes", "--list-features").Output()
		if err == nil && bytes.Contains(out, []byte("interactive")) && bytes.Contains(out, []byte("sandbox")) && bytes.Contains(out, []byte("json")) {
			return path
		}
	}
	return ""
}

// ctags is a pool of processes, one for each call at a time.
type ctags struct {
	path string

	mu     sync.Mutex // guards idle and closed
	idle   []*ctagsProcess
	closed bool
}

// ctagsProcess is a ctags in a system sandbox, which allows it to compute only: it gets
// each file on its standard input.
type ctagsProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	read int64 // bytes of the files so far
}

// symbols returns the symbols of a file, ordered by line. A process that failed or has read
// ctagsBytes is ended, because its state is not known or it may leak.
func (c *ctags) symbols(ctx context.Context, lang string, content []byte) ([]code.Symbol, error) {
	p, err := c.takeProcess()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, ctagsTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, p.kill)
	found, err := p.tagsOf(ctagsNames[lang], content)
	if !stop() && err == nil { // the process was killed after its answer
		err = context.Cause(ctx)
	}
	if err != nil || p.read > ctagsBytes || !c.putBack(p) {
		p.end()
	}
	if err != nil {
		return nil, fmt.Errorf("ctags: %w: %w", fault.ErrUnavailable, err)
	}
	return found, nil
}

// takeProcess returns an idle process, or starts one. The process gets no variables of the
// environment but the locale, and its own process group, so that kill reaches its children. If it
// cannot be started, it fails with fault.ErrUnavailable.
func (c *ctags) takeProcess() (*ctagsProcess, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		p := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return p, nil
	}
	cmd := exec.Command(c.path, "--options=NONE", "--quiet=yes", "--_interactive=sandbox", "--fields=NKnesS")
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	platform.OwnGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("ctags: %w: %w", fault.ErrUnavailable, err)
	}
	return &ctagsProcess{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

// putBack makes a process idle. It returns false if the pool is closed; then the caller ends
// the process.
func (c *ctags) putBack(p *ctagsProcess) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.idle = append(c.idle, p)
	}
	return !c.closed
}

// close ends the idle processes. A process in use ends with its call, because closed is set. c
// may be nil, which is an Analyser without ctags. It always returns nil.
func (c *ctags) close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, p := range c.idle {
		p.end()
	}
	c.idle = nil
	return nil
}

func (p *ctagsProcess) kill() { _ = platform.KillGroup(p.cmd.Process) }

// end kills the process and waits for it. Its result is ignored, because it was killed.
func (p *ctagsProcess) end() {
	p.kill()
	_ = p.cmd.Wait()
}

// A tag is one line that ctags prints.
type tag struct {
	Type      string `json:"_type"`
	Name      string `json:"name"`
	Line      int    `json:"line"`
	End       int    `json:"end"`
	Kind      string `json:"kind"`
	Scope     string `json:"scope"`
	Signature string `json:"signature"`
	Message   string `json:"message"`
	Fatal     bool   `json:"fatal"`
}

// tagsOf sends a file under a name that selects its language, and returns its symbols, ordered by
// line. After an error, of the pipes, of JSON or one that ctags calls fatal, the process is not
// usable, because part of an answer may be unread.
func (p *ctagsProcess) tagsOf(name string, content []byte) ([]code.Symbol, error) {
	p.read += int64(len(content))
	if _, err := fmt.Fprintf(p.in, "{\"command\":\"generate-tags\",\"filename\":%q,\"size\":%d}\n", name, len(content)); err != nil {
		return nil, err
	}
	if _, err := p.in.Write(content); err != nil {
		return nil, err
	}
	var found []code.Symbol
	for {
		line, err := p.readLine()
		if err != nil {
			return nil, err
		}
		var t tag
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("not a tag: %.80q: %w", line, err)
		}
		switch {
		case t.Type == "completed":
			slices.SortStableFunc(found, func(a, b code.Symbol) int { return cmp.Compare(a.Line, b.Line) })
			return found, nil
		case t.Type == "error" && t.Fatal:
			return nil, errors.New(t.Message)
		case t.Type == "tag" && t.Line > 0 && t.Name != "" && !isLocal(t.Kind) && len(found) < maxSymbols:
			found = append(found, code.Symbol{
				Name: oneLine(t.Name), Kind: t.Kind, Scope: oneLine(t.Scope), Line: t.Line, End: max(t.Line, t.End), Signature: oneLine(t.Signature),
			})
		}
	}
}

// isLocal reports whether symbols of a kind cannot be named outside of their function, or have no
// name of their own.
func isLocal(kind string) bool {
	return kind == "local" || kind == "parameter" || kind == "unknown" || strings.HasPrefix(kind, "anon")
}

// readLine reads one line.
func (p *ctagsProcess) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > ctagsLine {
			return nil, fmt.Errorf("a tag: %w", fault.ErrTooLarge)
		}
	}
}
