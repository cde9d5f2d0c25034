package main

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCall(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"tool": "t", "input": {"a": 1}`, `/input: json: want "," or "}", have the end of the text`},
		{`{"tool": "t", "input": {"a": 1`, `/input: json: want a value that ends, have one that does not`},
		{`{"tool": "t", "input": {}} x`, `(root): json: want the end of the text, have character 'x'`},
		{`{"tool": "t", "input": {}} {}`, `(root): json: want the end of the text, have character '{'`},
		{`["t"]`, "(root): type: want object, have array"},
		{`null`, "(root): type: want object, have null"},
		{`{"tool": "t", "tool": "u", "input": {}}`, `/tool: duplicate: want every member once, have "tool" again`},
		{`{"tool": "t", "input": {}, "input": {}}`, `/input: duplicate: want every member once, have "input" again`},
		{`{"tool": "t", "input": NaN, "INPUT": {}}`, `/INPUT: additionalProperties: want only "id", "tool", "input", "undo", "approve", "deny"; did you mean "input"?, have "INPUT"`},
		{`{"tool": "t", "\u001b": 1}`, `/\x1b: additionalProperties: want only "id", "tool", "input", "undo", "approve", "deny", have "\x1b"`},
		{`{"tool": 1, "input": {}}`, `/tool: type: want string, have number`},
		{`{"tool": null, "input": {}}`, `/tool: type: want string, have null`},
		{`{"tool": "t", "id": "", "input": {}}`, `/id: minLength: want at least 1 character, have 0`},
		{`{"input": {}}`, `the call names no "tool"`},
		{`{"undo": 1}`, `/undo: type: want string, have number`},
		{`{"undo": "a", "id": "b"}`, `"undo" stands alone in its line`},
		{`{"undo": "a", "deny": "b"}`, `"deny" stands alone in its line`},
		{`{"tool": "t", "id": "#2", "input": {}}`, `the id "#2" begins with "#", as those do that calls without one get`},
	} {
		_, err := parseCall([]byte(test.text))
		require.EqualError(t, err, test.want, test.text)
	}
	c, err := parseCall([]byte(`{"approve": "#2"}`))
	require.NoError(t, err)
	require.Equal(t, call{Do: doApprove, ID: "#2"}, c)
	// What is wrong with the input is for the runtime to say.
	for _, input := range []string{`{"a": 1, "a": 2}`, `{"A" :"\ud800"}`, `1e999`, `null`, `[ ]`, `NaN`, "\xff", strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5)} {
		c, err := parseCall([]byte(`{"tool": "t", "input": ` + input + `}`))
		require.NoError(t, err)
		require.Equal(t, input, string(c.Input))
	}
}

func TestCallsAreNumberedByLine(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	text := "\uFEFF{\"tool\": \"a\", \"input\": {}}\r\n\n" +
		`{"tool": "b", "input": "` + long + `"}` + "\n{\"tool\": \"c\", \"id\": \"#\u20ac\"}\n{\"tool\": \"d\"}"
	for start, want := range map[uint64][]string{1: {"#1", "#3", "", "#5"}, 7: {"#7.1", "#7.3", "", "#7.5"}} {
		var ids []string
		var bad error
		for c, err := range calls(t.Context(), "file", start, strings.NewReader(text)) {
			ids, bad = append(ids, c.ID), cmp.Or(bad, err)
		}
		require.Equal(t, want, ids)
		require.ErrorContains(t, bad, "file:4: the id")
		require.ErrorContains(t, bad, "hint: a line is one call: ")
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
