package pspace_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"leasehold/coordinator/gate/foreign/foreigntest"
)

// idleServer is a server that decodes each request as JSON and sends an answer, and does no
// other work: no spaces, no types, no bounds.
func idleServer(b *testing.B) string {
	return foreigntest.Accept(b, func(c net.Conn) {
		defer c.Close()
		lines := bufio.NewReader(c)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil {
				return
			}
			var request struct {
				MessageType   string           `json:"messageType"`
				Target        string           `json:"target"`
				ClientSession string           `json:"clientSession"`
				Tuple         []map[string]any `json:"tuple"`
				Template      []map[string]any `json:"template"`
			}
			if json.Unmarshal(line, &request) != nil {
				return
			}
			answer := `{"messageType":"PUT_RESPONSE","status":true,"statusCode":"200","statusMessage":"OK"`
			if request.Template != nil {
				answer = `{"messageType":"GET_RESPONSE","status":true,"statusCode":"200","statusMessage":"OK","tuples":[[{"type":"pspace:string","value":"key"},{"type":"pspace:int","value":7}]]`
			}
			if request.ClientSession != "" {
				answer += `,"clientSession":"` + request.ClientSession + `"`
			}
			if _, err := io.WriteString(c, answer+"}\n"); err != nil || request.ClientSession == "" {
				return
			}
		}
	})
}

// putAndGet are the requests of one pair; session is a member with a comma before it, or
// empty.
func putAndGet(key int, session string) [2]string {
	return [2]string{
		fmt.Sprintf(`{"messageType":"PUT_REQUEST","target":"space","blocking":false,"all":false,"tuple":[{"type":"pspace:string","value":"key-%d"},{"type":"pspace:int","value":%d}]%s}`+"\n", key, key, session),
		fmt.Sprintf(`{"messageType":"GET_REQUEST","target":"space","blocking":true,"all":false,"template":[{"formal":false,"value":{"type":"pspace:string","value":"key-%d"}},{"formal":true,"value":"pspace:int"}]%s}`+"\n", key, session),
	}
}

// operations sends pairs of put and get for a while, and returns the operations per
// second.
func operations(b *testing.B, address string, kept bool, pairs int) float64 {
	began := time.Now()
	var running sync.WaitGroup
	for n := range foreigntest.BenchClients {
		running.Go(func() {
			requests := putAndGet(n, "")
			if kept {
				requests = putAndGet(n, `,"clientSession":"1"`)
			}
			var c net.Conn
			var lines *bufio.Reader
			for range pairs {
				for _, request := range requests {
					if c == nil {
						var err error
						if c, err = net.Dial("tcp", address); err != nil {
							b.Error(err)
							return
						}
						lines = bufio.NewReader(c)
					}
					if _, err := io.WriteString(c, request); err != nil {
						b.Error(err)
						return
					}
					if _, err := lines.ReadSlice('\n'); err != nil {
						b.Error(err)
						return
					}
					if !kept {
						_ = c.Close()
						c = nil
					}
				}
			}
			if c != nil {
				_ = c.Close()
			}
		})
	}
	running.Wait()
	return float64(2*pairs*foreigntest.BenchClients) / time.Since(began).Seconds()
}

// BenchmarkAgainstAServerThatDoesNoWork compares the gate with a JSON server that does no
// work, in turns.
func BenchmarkAgainstAServerThatDoesNoWork(b *testing.B) {
	for mode, pairs := range map[string]int{"keep": 4_000, "conn": 600} {
		b.Run(mode, func(b *testing.B) {
			foreigntest.Compare(b, newFixture(b).address, idleServer(b), func(address string) float64 {
				return operations(b, address, mode == "keep", pairs)
			})
		})
	}
}
