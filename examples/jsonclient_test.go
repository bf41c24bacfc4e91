package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"

	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// jsonClient is a foreign program: it speaks jSpace's JSON, with a connection for each
// operation. Of a repository it has what the programs use.
type jsonClient struct {
	space.Repository
	address string
}

func (c jsonClient) Space(name string) space.Space { return jsonSpace{c: c, name: name} }

type jsonSpace struct {
	space.Space
	c    jsonClient
	name string
}

type (
	jsonValue struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	jsonField struct {
		Formal bool `json:"formal"`
		Value  any  `json:"value"`
	}
	jsonRequest struct {
		MessageType   string      `json:"messageType"`
		Target        string      `json:"target"`
		ClientSession string      `json:"clientSession"`
		Blocking      bool        `json:"blocking"`
		Tuple         []jsonValue `json:"tuple,omitempty"`
		Template      []jsonField `json:"template,omitempty"`
	}
	jsonAnswer struct {
		Status bool `json:"status"`
		Tuples [][]struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"tuples"`
	}
)

func valueOf(field any) jsonValue {
	if _, ok := field.(int64); ok {
		return jsonValue{"pspace:long", field}
	}
	return jsonValue{"pspace:string", field}
}

func (s jsonSpace) Put(ctx context.Context, t tuple.Tuple, _ time.Duration) error {
	r := jsonRequest{MessageType: "PUT_REQUEST"}
	for _, f := range t {
		r.Tuple = append(r.Tuple, valueOf(f))
	}
	_, err := s.call(ctx, r)
	return err
}

func (s jsonSpace) Get(ctx context.Context, p tuple.Template) (t tuple.Tuple, err error) {
	r := jsonRequest{MessageType: "GET_REQUEST", Blocking: true}
	for _, f := range p {
		switch f {
		case tuple.AnyInt64:
			r.Template = append(r.Template, jsonField{true, "pspace:long"})
		case tuple.AnyString:
			r.Template = append(r.Template, jsonField{true, "pspace:string"})
		default:
			r.Template = append(r.Template, jsonField{false, valueOf(f)})
		}
	}
	answer, err := s.call(ctx, r)
	if err != nil || len(answer.Tuples) == 0 {
		return nil, err
	}
	for _, f := range answer.Tuples[0] {
		var text string
		var number int64
		if f.Type == "pspace:long" {
			err = json.Unmarshal(f.Value, &number)
			t = append(t, number)
		} else {
			err = json.Unmarshal(f.Value, &text)
			t = append(t, text)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (s jsonSpace) call(ctx context.Context, r jsonRequest) (answer jsonAnswer, err error) {
	r.Target, r.ClientSession = s.name, "0"
	conn, err := net.Dial("tcp", s.c.address)
	if err != nil {
		return answer, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return answer, err
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return answer, err
	}
	if !answer.Status {
		return answer, fmt.Errorf("%s %s was refused", r.MessageType, s.name)
	}
	return answer, nil
}
