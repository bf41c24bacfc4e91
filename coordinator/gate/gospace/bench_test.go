package gospace_test

import (
	"encoding/gob"
	"net"
	"sync"
	"testing"
	"time"

	"leasehold/coordinator/gate/foreign/foreigntest"
)

// idleServer is a server that decodes each request with package encoding/gob and sends an
// answer, and does no other work.
func idleServer(b *testing.B) string {
	return foreigntest.Accept(b, func(c net.Conn) {
		defer c.Close()
		var m message
		if gob.NewDecoder(c).Decode(&m) != nil {
			return
		}
		var answer any = true
		if m.Operation == "GET_REQUEST" {
			answer = tupleOf("key", 7)
		}
		_ = gob.NewEncoder(c).Encode(answer)
	})
}

// operations sends pairs of put and get, and returns the operations per second.
func operations(b *testing.B, address string, pairs int) float64 {
	began := time.Now()
	var running sync.WaitGroup
	for n := range foreigntest.BenchClients {
		running.Go(func() {
			requests := [][]byte{request(b, "PUT_REQUEST", tupleOf("key", n)), request(b, "GET_REQUEST", templateOf("key", n))}
			var answer [512]byte
			for range pairs {
				for _, bytes := range requests {
					c, err := net.Dial("tcp", address)
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := c.Write(bytes); err != nil {
						b.Error(err)
					}
					if _, err := c.Read(answer[:]); err != nil {
						b.Error(err)
					}
					_ = c.Close()
				}
			}
		})
	}
	running.Wait()
	return float64(2*pairs*foreigntest.BenchClients) / time.Since(began).Seconds()
}

// BenchmarkAgainstAServerThatDoesNoWork compares the gate with a gob server that does no
// work, in turns.
func BenchmarkAgainstAServerThatDoesNoWork(b *testing.B) {
	foreigntest.Compare(b, newFixture(b).address, idleServer(b), func(address string) float64 { return operations(b, address, 400) })
}
