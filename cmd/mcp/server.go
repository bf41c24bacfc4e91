package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxMessage is the length of a message in bytes.
const maxMessage = 1 << 20

// versions are the versions of the protocol that are served, the newest first.
var versions = []string{"2025-06-18", "2025-03-26", "2024-11-05"}

// A Tool is a function that an assistant may call.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      map[string]any `json:"inputSchema"` // JSON Schema of the arguments, an object
	// Call returns the text of the answer. Its error is shown to the assistant.
	Call func(ctx context.Context, arguments json.RawMessage) (string, error) `json:"-"`
}

// Server serves tools.
type Server struct {
	Name, Version string
	Tools         []Tool
}

// A request is a call, or a notification if it has no id.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *problem        `json:"error,omitempty"`
}

// A problem is an error of JSON-RPC.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The codes of JSON-RPC.
const (
	notJSON       = -32700
	notARequest   = -32600
	unknownMethod = -32601
	badParams     = -32602
)

func (p *problem) Error() string { return p.Message }

// Serve answers the messages of in, one after the other, until in or ctx ends, and returns nil then. It notices
// the end of ctx only between messages. The answer to a message that is too long is an error.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	encoder := json.NewEncoder(out)
	for ctx.Err() == nil {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var answer *response
		if errors.Is(err, errTooLong) {
			answer = failed(nil, &problem{notARequest, err.Error()})
		} else if err != nil {
			return fmt.Errorf("mcp: read: %w", err)
		} else if len(bytes.TrimSpace(line)) > 0 {
			answer = s.answer(ctx, line)
		}
		if answer == nil {
			continue
		}
		if err := encoder.Encode(answer); err != nil {
			return fmt.Errorf("mcp: write: %w", err)
		}
	}
	return nil
}

var errTooLong = fmt.Errorf("a message is at most %d bytes", maxMessage)

// readLine reads one line; the last may lack its line feed. One of more than maxMessage bytes is skipped to its
// end and is errTooLong. At the end of the input it returns io.EOF.
func readLine(in *bufio.Reader) (line []byte, err error) {
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > maxMessage
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !(errors.Is(err, io.EOF) && len(line) > 0):
			return nil, err
		case tooLong:
			return nil, errTooLong
		default:
			return line, nil
		}
	}
}

// failed returns the answer to a request with an error. An unknown id is null, as JSON-RPC wants
// it.
func failed(id json.RawMessage, p *problem) *response {
	if id == nil {
		id = json.RawMessage("null")
	}
	return &response{Version: "2.0", ID: id, Error: p}
}

// answer runs one message, and returns its answer; nil for a notification, which has no id. The answer to anything
// but a JSON request is an error.
func (s Server) answer(ctx context.Context, line []byte) *response {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		code := notJSON
		if json.Valid(line) {
			code = notARequest
		}
		return failed(nil, &problem{code, "want one JSON-RPC 2.0 request a line"})
	}
	if r.Version != "2.0" || r.Method == "" {
		return failed(r.ID, &problem{notARequest, `want "jsonrpc": "2.0" and a method`})
	}
	if r.ID == nil {
		return nil
	}
	result, err := s.call(ctx, r)
	if p := (*problem)(nil); errors.As(err, &p) {
		return failed(r.ID, p)
	}
	return &response{Version: "2.0", ID: r.ID, Result: result}
}

// call runs a method. Its error is a *problem. initialize agrees to the client's version of the
// protocol if it is known, and else to the newest.
func (s Server) call(ctx context.Context, r request) (any, error) {
	switch r.Method {
	case "initialize":
		var p struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(r.Params, &p)
		if !slices.Contains(versions, p.Version) {
			p.Version = versions[0]
		}
		return map[string]any{
			"protocolVersion": p.Version,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": s.Name, "version": s.Version},
		}, nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		return map[string]any{"tools": s.Tools}, nil
	case "tools/call":
		return s.callTool(ctx, r.Params)
	}
	return nil, &problem{unknownMethod, fmt.Sprintf("unknown method %.80q; use initialize, ping, tools/list or tools/call", r.Method)}
}

// callTool runs a tool. An error of the tool is its text, marked as an error, so that the
// assistant reads it; unknown tools and malformed parameters are a *problem.
func (s Server) callTool(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &problem{badParams, "want the name and the arguments of a tool"}
	}
	i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == p.Name })
	if i < 0 {
		return nil, &problem{badParams, fmt.Sprintf("unknown tool %.80q", p.Name)}
	}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	text, err := s.Tools[i].Call(ctx, p.Arguments)
	if err != nil {
		text = err.Error()
	}
	return map[string]any{"content": []map[string]string{{"type": "text", "text": text}}, "isError": err != nil}, nil
}
