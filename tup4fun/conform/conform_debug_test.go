package conform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

func TestDebug(t *testing.T) {
	name, tr := os.Getenv("M"), os.Getenv("T")
	src, _ := os.ReadFile("models/" + name + ".tup")
	mp, _ := os.ReadFile("models/" + name + ".map")
	if os.Getenv("C") != "" {
		p, err := syntax.Parse(name+".tup", string(src))
		if err != nil {
			t.Fatal(err)
		}
		m, err := explore.Compile(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := explore.Check(context.Background(), m, explore.Options{Reduction: explore.FullReduction, Cores: 1, States: 2000000})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(r.Outcome, r.Reason, r.States, r.Transitions)
		for _, w := range r.Warnings {
			fmt.Println(w)
		}
		for _, v := range r.Verdicts {
			fmt.Println(v.Name, v.Outcome, v.Detail)
			if v.Trace != nil {
				b, _ := json.MarshalIndent(v.Trace, "", " ")
				fmt.Println(string(b)[:3000])
			}
		}
	}
	cm, err := conform.ParseMap(name+".map", string(mp))
	if err != nil {
		t.Fatal(err)
	}
	p, err := syntax.ParseWith(name+".tup", string(src), cm.Constants)
	if err != nil {
		t.Fatal(err)
	}
	m, err := explore.Compile(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := conform.New(m, cm, conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr == "" {
		return
	}
	f, _ := os.Open(tr)
	r, err := c.Check(context.Background(), tr, f)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.MarshalIndent(r, "", " ")
	if len(b) > 6000 {
		b = b[:6000]
	}
	fmt.Println(string(b))
}
