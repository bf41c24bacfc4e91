package gospace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"leasehold/gospace"
	"leasehold/shared/space"
)

// Every operation that waits ends with the timeout of its handle.
func ExampleSpace_WithTimeout() {
	s := gospace.NewSpace("timeout")
	defer s.Close()
	_, err := s.WithTimeout(10 * time.Millisecond).Get("never")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
}

// A context ends the operations of its handle.
func ExampleSpace_WithContext() {
	s := gospace.NewSpace("context")
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := s.WithContext(ctx).Query("never")
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// true
}

// A tuple with a time to live is removed when that ends.
func ExampleSpace_WithTTL() {
	s := gospace.NewSpace("members")
	defer s.Close()
	changes, _ := s.Subscribe()
	s.WithTTL(10*time.Millisecond).Put("alice", 1)
	for n := 0; n < 2; {
		events, _, _ := changes.Next()
		for _, e := range events {
			fmt.Println(e.Change, e.Tuple)
		}
		n += len(events)
	}
	// Output:
	// put ("alice", 1)
	// take ("alice", 1)
}

// A lock is a tuple, put if there is none, for a minute unless it is renewed.
func ExampleSpace_PutIfAbsent() {
	s := gospace.NewSpace("locks")
	defer s.Close()
	var holder string
	for _, name := range []string{"alice", "bob"} {
		_, err := s.WithTTL(time.Minute).PutIfAbsent(gospace.CreateTemplate("printer", &holder), "printer", name)
		fmt.Println(name, errors.Is(err, gospace.ErrUnmet))
	}
	_, err := gospace.TransactP(s.WithTTL(time.Minute).OpRenew("printer", "alice"))
	fmt.Println(err)
	// Output:
	// alice false
	// bob true
	// <nil>
}

// A bound keeps a get of all matches small.
func ExampleSpace_GetUpTo() {
	s := gospace.NewSpace("jobs")
	defer s.Close()
	for i := range 5 {
		s.Put("job", i)
	}
	var n int
	fmt.Println(s.GetUpTo(3, "job", &n))
	fmt.Println(s.GetUpTo(3, "job", &n))
	// Output:
	// [("job", 0) ("job", 1) ("job", 2)] <nil>
	// [("job", 3) ("job", 4)] <nil>
}

// List shows the tuples of a space, of all types.
func ExampleSpace_List() {
	s := gospace.NewSpace("box")
	defer s.Close()
	s.Put("a")
	s.Put("b", 1)
	s.Put("c", true, 2.5)
	fmt.Println(s.List(0, 2))
	fmt.Println(s.Size())
	// Output:
	// [("a") ("b", 1)] 3 <nil>
	// 3 <nil>
}

// With a folder the tuples outlive the program.
func ExampleNewSpaceWith() {
	folder, _ := os.MkdirTemp("", "gospace")
	defer os.RemoveAll(folder)
	for run := range 2 {
		diary := gospace.NewSpaceWith("diary", gospace.SpaceOptions{Folder: folder})
		diary.Put("run", run)
		var n int
		fmt.Println(diary.QueryAll("run", &n))
		diary.Close()
	}
	// Output:
	// [("run", 0)] <nil>
	// [("run", 0) ("run", 1)] <nil>
}

// The match with the highest field, an int64, comes first.
func ExampleNewSpaceWith_priority() {
	s := gospace.NewSpaceWith("todo", gospace.SpaceOptions{Options: space.Options{Kind: space.Ordered, OrderBy: 1}})
	defer s.Close()
	s.Put("sweep", int64(1))
	s.Put("put out the fire", int64(9))
	var what string
	var priority int64
	fmt.Println(s.Get(&what, &priority))
	// Output:
	// ("put out the fire", 9) <nil>
}

// A coin moves from one account to another, unless the other is closed.
func ExampleTransact() {
	alice, bob := gospace.NewSpace("alice"), gospace.NewSpace("bob")
	defer alice.Close()
	defer bob.Close()
	alice.Put("coin", 5)
	var worth int
	_, err := gospace.Transact(bob.OpAbsent("closed"), alice.OpGet("coin", &worth), bob.OpPut("coin", 5))
	fmt.Println(worth, err)
	_, err = gospace.TransactP(alice.OpGet("coin", &worth), bob.OpPut("coin", 5))
	fmt.Println(err)
	fmt.Println(bob.Size())
	// Output:
	// 5 <nil>
	// operation on this space failed: operation 1 of 2, get in "alice" ("coin", ?int): no tuple matches: nothing was changed: conflict
	// 1 <nil>
}

// A subscription tells of every put and take of the tuples that match.
func ExampleSpace_Subscribe() {
	chat := gospace.NewSpace("chat")
	defer chat.Close()
	var text string
	changes, err := chat.Subscribe("alice", &text)
	chat.Put("bob", "hi")
	chat.Put("alice", "hello")
	events, missed, _ := changes.Next()
	fmt.Println(events, missed, err)
	fmt.Println(changes.Close())
	// Output:
	// [{put ("alice", "hello")}] 0 <nil>
	// <nil>
}
