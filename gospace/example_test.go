package gospace_test

import (
	"fmt"
	"net"

	"leasehold/gospace"
)

// A shopping list on a fridge: one process, one space.
func Example_fridge() {
	fridge := gospace.NewSpace("fridge")
	defer fridge.Close()
	fridge.Put("milk", 2)
	fridge.Put("butter", 1)

	var item string
	var n int
	fridge.Get("milk", &n)
	fmt.Println("milk", n)
	t, _ := fridge.QueryP(&item, &n)
	fmt.Println(t, item, n)
	_, err := fridge.GetP("eggs", &n)
	fmt.Println(err)
	// Output:
	// milk 2
	// ("butter", 1) butter 1
	// operation on this space failed: no tuple matches
}

// A consumer waits for what a producer puts.
func Example_producerConsumer() {
	buffer := gospace.NewSpace("buffer")
	defer buffer.Close()
	go func() {
		for i := range 3 {
			buffer.Put("item", i)
		}
	}()
	for range 3 {
		var item int
		buffer.Get("item", &item)
		fmt.Println(item)
	}
	// Output:
	// 0
	// 1
	// 2
}

// One program opens a space to a network, and another joins it.
func ExampleNewRemoteSpace() {
	address := freeAddress()
	server := gospace.NewSpace("tcp://" + address + "/chat?KEEP")
	defer server.Close()
	client := gospace.NewRemoteSpace("tcp://" + address + "/chat")
	defer client.Close()

	client.Put("message", "hello")
	var text string
	server.Get("message", &text)
	fmt.Println(text)
	// Output:
	// hello
}

// The operations of goSpace's tutorials: a sum over tuples, all tuples, a template.
func ExampleSpace_QueryAgg() {
	s := gospace.NewSpace("sum")
	defer s.Close()
	for i := 1; i <= 3; i++ {
		s.Put("job", i)
	}
	sum := func(ts ...gospace.Intertuple) gospace.Intertuple {
		total := 0
		for _, t := range ts {
			total += t.GetFieldAt(1).(int)
		}
		result := gospace.CreateTuple("job", total)
		return &result
	}
	var n int
	t, err := s.QueryAgg(sum, "job", &n)
	fmt.Println(t, err)
	template := gospace.CreateTemplate("job", &n)
	all, _ := s.GetAll(template.Fields()...)
	fmt.Println(template, all, all[0].Match(template))
	// Output:
	// ("job", 6) <nil>
	// ("job", int) [("job", 1) ("job", 2) ("job", 3)] true
}

// freeAddress returns an address at which no program listens.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
