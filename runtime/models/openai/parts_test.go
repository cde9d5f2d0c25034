package openai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/wiretest"
)

// TestPartsOfCalls: streams as servers other than OpenAI's write them. The parts of a call are put together, or the answer is
// refused with what is wrong, and none of its calls is made.
func TestPartsOfCalls(t *testing.T) {
	desk := wiretest.NewDesk(t)
	const ida, bob = `case_open {"customer":"Ida"}`, `order_find {"order":"1017"}`
	for name, c := range map[string]struct {
		parts []string // of tool_calls
		want  []string // name and arguments
		wrong string
	}{
		"as OpenAI's": {parts: []string{
			`{"index":0,"id":"a","type":"function","function":{"name":"case_open","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"customer\":"}}`, `{"index":0,"function":{"arguments":"\"Ida\"}"}}`,
			`{"index":1,"id":"b","type":"function","function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"no type, no id": {parts: []string{
			`{"index":0,"function":{"name":"case_open","arguments":"{\"customer\":"}}`, `{"index":0,"function":{"arguments":"\"Ida\"}"}}`,
		}, want: []string{ida}},
		"the name in every part": {parts: []string{
			`{"index":0,"id":"a","type":"function","function":{"name":"case_open","arguments":""}}`,
			`{"index":0,"id":"a","type":"function","function":{"name":"case_open","arguments":"{\"customer\":"}}`,
			`{"index":0,"id":"a","type":"function","function":{"name":"case_open","arguments":"\"Ida\"}"}}`,
			`{"index":0,"id":"a","type":"function","function":{"name":"case_open","arguments":""}}`,
		}, want: []string{ida}},
		"the name in every part, no id": {parts: []string{
			`{"index":0,"function":{"name":"case_open","arguments":"{\"customer\":"}}`,
			`{"index":0,"function":{"name":"case_open","arguments":"\"Ida\"}"}}`, `{"index":0,"function":{"name":"case_open"}}`,
		}, want: []string{ida}},
		"the name in parts": {parts: []string{
			`{"index":0,"id":"a","function":{"name":"case"}}`, `{"index":0,"function":{"name":"_open"}}`,
			`{"index":0,"function":{"arguments":"{\"customer\":\"Ida\"}"}}`,
		}, want: []string{ida}},
		"indexes with gaps": {parts: []string{
			`{"index":1,"id":"a","function":{"name":"case_open","arguments":"{\"customer\":\"Ida\"}"}}`,
			`{"index":5,"id":"b","function":{"name":"order_find","arguments":"{\"order\":"}}`, `{"index":5,"function":{"arguments":"\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"indexes far apart": {parts: []string{
			`{"index":900,"id":"a","function":{"name":"case_open","arguments":"{\"customer\":\"Ida\"}"}}`,
			`{"index":-1,"id":"b","function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"one index, with ids": {parts: []string{
			`{"index":0,"id":"a","function":{"name":"case_open","arguments":"{\"customer\":"}}`, `{"index":0,"function":{"arguments":"\"Ida\"}"}}`,
			`{"index":0,"id":"b","function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"one index, mixed, with ids": {parts: []string{
			`{"index":0,"id":"a","function":{"name":"case_open","arguments":"{\"customer\":"}}`,
			`{"index":0,"id":"b","function":{"name":"order_find","arguments":"{\"order\":"}}`,
			`{"index":0,"id":"a","function":{"arguments":"\"Ida\"}"}}`, `{"index":0,"id":"b","function":{"arguments":"\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"one index, no ids": {parts: []string{
			`{"index":0,"function":{"name":"case_open","arguments":"{\"customer\":\"Ida\"}"}}`,
			`{"index":0,"function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
			`{"index":0,"function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
		}, want: []string{ida, bob, bob}},
		"no index": {parts: []string{
			`{"id":"a","function":{"name":"case_open","arguments":"{\"customer\":\"Ida\"}"}}`,
			`{"id":"b","function":{"name":"order_find","arguments":"{\"order\":\"1017\"}"}}`,
		}, want: []string{ida, bob}},
		"one index, mixed, no ids": {parts: []string{
			`{"index":0,"function":{"name":"case_open","arguments":"{\"customer\":"}}`,
			`{"index":0,"function":{"name":"order_find","arguments":"{\"order\":"}}`,
		}, wrong: `those of the calls "case_open" and "order_find" have one index`},
		"no name": {parts: []string{
			`{"index":0,"id":"a","function":{"name":"case_open","arguments":"{\"customer\":\"Ida\"}"}}`,
			`{"index":1,"id":"b","function":{"arguments":"{\"order\":\"1017\"}"}}`,
		}, wrong: `its call 2, with the id "b", has no name`},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			chunk := func(delta, finish string) {
				fmt.Fprintf(&b, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
			}
			for _, p := range c.parts {
				chunk(`{"tool_calls":[`+p+`]}`, "null")
			}
			chunk("{}", `"tool_calls"`)
			b.WriteString("data: [DONE]\n\n")
			m, err := apis[3].ask(t, desk.Registry, b.String())
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || len(m.Calls) > 0 {
					t.Errorf("%v, %v, want %s", m, err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			ids := map[string]bool{}
			for _, call := range m.Calls {
				got = append(got, call.Tool+" "+string(call.Input))
				if call.ID == "" || ids[call.ID] {
					t.Errorf("id %q", call.ID)
				}
				ids[call.ID] = true
			}
			if !slices.Equal(got, c.want) || len(m.Refused) > 0 {
				t.Errorf("got %q and refused %v, want %q", got, m.Refused, c.want)
			}
		})
	}
}
