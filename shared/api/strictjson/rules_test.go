package strictjson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/strictjson"
)

func TestTheFieldsOfAnObjectKeepItsRules(t *testing.T) {
	t.Parallel()
	type options struct {
		Limits  []string `json:"limits,omitempty"`
		OnLimit string   `json:"on_limit,omitempty"`
	}
	type ruled struct {
		options
		Ack  bool    `json:"ack,omitempty"`
		Hold float64 `json:"hold_s,omitempty"`
		In   []struct {
			A int `json:"a,omitempty"`

			_ struct{} `least:"1"`
		} `json:"in,omitempty"`

		_ struct{} `least:"1" needs:"hold_s=ack,on_limit=limits"`
	}
	for text, want := range map[string]string{
		`{"ack":true}`:                      "",
		`{"ack":false,"hold_s":1}`:          "",
		`{"limits":[],"on_limit":"drop"}`:   "",
		`{"in":[{"a":0}]}`:                  "",
		`{}`:                                "want ack, hold_s, in, limits or on_limit",
		`{"hold_s":1}`:                      "hold_s has no effect without ack",
		`{"on_limit":"drop"}`:               "on_limit has no effect without limits",
		`{"ack":true,"in":[{"a":1}, {}]}`:   "in: want a",
		`{"on_limit":"drop","limits":null}`: "limits: want a list, got null; leave it out",
	} {
		var r ruled
		err := strictjson.DecodeDescribed(strings.NewReader(text), &r)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
		require.NoError(t, strictjson.Decode(strings.NewReader(text), &r), "only a description has rules")
	}
}
