package gospace_test

import (
	"encoding/gob"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchClients is how many clients send requests at a time, one after the other.
const benchClients = 8

// rounds is how often each server is measured, in turns.
const rounds = 7

// idleServer is a server that decodes each request with package encoding/gob and sends an
// answer, and does no other work.
func idleServer(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	var running sync.WaitGroup
	b.Cleanup(func() { _ = l.Close(); running.Wait() })
	serve := func(c net.Conn) {
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
	}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(c) })
		}
	})
	return l.Addr().String()
}

// operations sends pairs of put and get, and returns the operations per second.
func operations(b *testing.B, address string, pairs int) float64 {
	began := time.Now()
	var running sync.WaitGroup
	for n := range benchClients {
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
	return float64(2*pairs*benchClients) / time.Since(began).Seconds()
}

// BenchmarkAgainstAServerThatDoesNoWork compares the gate with a gob server that does no
// work, in turns.
func BenchmarkAgainstAServerThatDoesNoWork(b *testing.B) {
	gate, idle := newFixture(b).address, idleServer(b)
	var ratios, speeds []float64
	for range rounds {
		base := operations(b, idle, 400)
		ours := operations(b, gate, 400)
		ratios, speeds = append(ratios, ours/base), append(speeds, ours)
	}
	slices.Sort(ratios)
	slices.Sort(speeds)
	b.ReportMetric(ratios[rounds/2], "of-idle")
	b.ReportMetric(speeds[rounds/2], "ops/s")
	b.ReportMetric(0, "ns/op")
}
