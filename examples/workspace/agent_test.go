package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCall(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"tool": "t", "input": {"a": 1}`, "not a JSON value: unexpected end of JSON input"},
		{`{"tool": "t", "input": {}} x`, "not a JSON value: invalid character 'x' after top-level value"},
		{`{"tool": "t", "input": {}} {}`, "not a JSON value: invalid character '{' after top-level value"},
		{`["t"]`, "not a JSON object"},
		{`null`, "not a JSON object"},
		{`{"tool": "t", "tool": "u", "input": {}}`, `the member "tool" is there twice`},
		{`{"tool": "t", "input": {}, "input": {}}`, `the member "input" is there twice`},
		{`{"Tool": "t", "input": {}}`, `a call has no member "Tool"`},
		{`{"tool": 1, "input": {}}`, `"tool" is not a text, or empty`},
		{`{"tool": null, "input": {}}`, `"tool" is not a text, or empty`},
		{`{"tool": "t", "id": "", "input": {}}`, `"id" is not a text, or empty`},
		{`{"input": {}}`, `the call names no "tool"`},
		{`{"undo": 1}`, `"undo" is not a text, or empty`},
		{`{"undo": "a", "id": "b"}`, `"undo" stands alone in its line`},
		{`{"tool": "t", "id": "#2", "input": {}}`, `the id "#2" begins with "#", as those do that calls without one get`},
	} {
		_, err := parseCall([]byte(test.text))
		require.EqualError(t, err, test.want, test.text)
	}
	c, err := parseCall([]byte(`{"approve": "#2"}`))
	require.NoError(t, err)
	require.Equal(t, call{Do: doApprove, ID: "#2"}, c)
	// What is wrong with the input is for the runtime to say.
	for _, input := range []string{`{"a": 1, "a": 2}`, `{"A" :"\ud800"}`, `1e999`, `null`, `[ ]`} {
		c, err := parseCall([]byte(`{"tool": "t", "input": ` + input + `}`))
		require.NoError(t, err)
		require.Equal(t, input, string(c.Input))
	}
}

func TestCallsAreNumberedByLine(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	text := "\uFEFF{\"tool\": \"a\", \"input\": {}}\r\n\n" +
		`{"tool": "b", "input": "` + long + `"}` + "\n{\"tool\": \"c\", \"id\": \"#\u20ac\"}"
	for start, want := range map[uint64][]string{1: {"#1", "#3", ""}, 7: {"#7.1", "#7.3", ""}} {
		var ids []string
		var last error
		for c, err := range calls(t.Context(), "file", start, strings.NewReader(text)) {
			ids, last = append(ids, c.ID), err
		}
		require.Equal(t, want, ids)
		require.ErrorContains(t, last, "file:4: the id")
		require.ErrorContains(t, last, "hint: a line is one call: ")
	}
}

func TestWhatAgentsWriteIsShownEscaped(t *testing.T) {
	require.Equal(t, `a\nb\x1b[31m\u202e é`, oneLine("a\nb\x1b[31m\u202e é"))
	require.Equal(t, "plain-1", word("plain-1"))
	require.Equal(t, `"two words"`, word("two words"))
	require.Equal(t, `""`, word(""))
	require.Equal(t, `{"a":"\u009b\u202e\udb40\udc01é"}`, plainJSON([]byte("{\"a\":\"\u009b\u202e\U000E0001é\"}")))
	require.Equal(t, "1 call", plural(1, "call"))
}
