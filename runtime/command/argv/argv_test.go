package argv_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/command/argv"
)

// TestMain makes this program one that prints its arguments.
func TestMain(m *testing.M) {
	if os.Getenv("AMBIT_PRINT_ARGV") != "" {
		text, _ := json.Marshal(os.Args[1:])
		_, _ = os.Stdout.Write(text)
		return
	}
	os.Exit(m.Run())
}

// patterns says of each whether a value that it accepts may be taken for an option.
var patterns = map[string]bool{
	`^[A-Za-z0-9_][A-Za-z0-9_./~^-]{0,200}$`: false,
	`^[a-zA-Z0-9/_.-]+$`:                     true,
	`^[a-zA-Z0-9_][a-zA-Z0-9/_.-]*$`:         false,
	`[a-z]+`:                                 true,
	`^(HEAD|[0-9a-f]{7,40})$`:                false,
	`^-?[0-9]+$`:                             true,
	`^$`:                                     true,
	`^[^-].*$`:                               false,
	`^(?:a|-b)c$`:                            true,
	`^\./[A-Za-z0-9_./-]*$`:                  false,
	`^a`:                                     false,
	`^a*`:                                    true,
	`^a*$`:                                   true,
	`^a*b`:                                   false,
	`^a*-`:                                   true,
	`^a+-`:                                   false,
	`^a?b?c$`:                                false,
	`^a?b?c?$`:                               true,
	`a$`:                                     true,
	`^`:                                      true,
	``:                                       true,
	`.*`:                                     true,
	`^.`:                                     true,
	`^.a$`:                                   true,
	`^\w+$`:                                  false,
	`^\d`:                                    false,
	`^\D`:                                    true,
	`^\S+$`:                                  true,
	`^\s`:                                    false,
	`^\W`:                                    true,
	`^[ -~]+$`:                               true,
	`^[!-,]x`:                                false,
	`^[.-9]x`:                                false,
	`^[+--]x`:                                true,
	`^\-`:                                    true,
	`^\x2d`:                                  true,
	`^\x2e`:                                  false,
	`^(a)$`:                                  false,
	`^(-)$`:                                  true,
	`(^a)`:                                   false,
	`^a|b`:                                   true,
	`^a|^b`:                                  false,
	`^a|^-`:                                  true,
	`^a$|^b$`:                                false,
	`^(a|)$`:                                 true,
	`^(a|)b$`:                                false,
	`^(a|)-$`:                                true,
	`^(?i)head$`:                             false,
	`^a{0,3}$`:                               true,
	`^a{1,3}$`:                               false,
	`^(a{0,3}|b)c`:                           false,
	`^(-a){0,1}b`:                            true,
	`^(?=a)`:                                 true, // what it does not understand
	`^[`:                                     true,
	`(?m)^a`:                                 true,
	`^\b-`:                                   true,
	`^[^a]`:                                  true,
	`^[^\-a]`:                                false,
}

// TestPatterns: the decision is the right one, and where it says no there is no counterexample
// among short texts.
// SEMANTICS 7.5.9
func TestPatterns(t *testing.T) {
	require.GreaterOrEqual(t, len(patterns), 50)
	for pattern, may := range patterns {
		s := argv.Schema{Type: argv.String, Pattern: pattern}
		require.Equal(t, may, s.MayBeOption(), pattern)
		re, err := regexp.Compile(pattern)
		if may || err != nil {
			continue
		}
		for _, rest := range []string{"", "a", "-", "b", "c", "ab", "HEAD", "0", "=", " ", "/", "head", "bc", "-b", "."} {
			require.False(t, re.MatchString("-"+rest), "%s matches %q", pattern, "-"+rest)
		}
		require.False(t, re.MatchString(""), pattern)
	}
}

func TestSchemas(t *testing.T) {
	zero, below := int64(0), int64(-1)
	for _, c := range []struct {
		schema argv.Schema
		may    bool
	}{
		{argv.Schema{Type: argv.Boolean}, false},
		{argv.Schema{Type: argv.Integer}, true},
		{argv.Schema{Type: argv.Integer, Minimum: &zero}, false},
		{argv.Schema{Type: argv.Integer, Minimum: &below}, true},
		{argv.Schema{Type: argv.String}, true},
		{argv.Schema{Type: argv.String, Enum: []string{"a", "b"}}, false},
		{argv.Schema{Type: argv.String, Enum: []string{"a", "-b"}}, true},
		{argv.Schema{Type: argv.String, Enum: []string{"a", ""}}, true},
		{argv.Schema{Type: argv.String, Pattern: "^[a-z]*$", MinLength: 1}, false},
		{argv.Schema{Type: argv.String, Pattern: "^[a-z]*", MinLength: 1}, true},
		{argv.Schema{Type: argv.Other}, true},
		{argv.Schema{Type: argv.Array}, true},
	} {
		require.Equal(t, c.may, c.schema.MayBeOption(), "%+v", c.schema)
	}
}

func text(t *testing.T, s string) []argv.Part {
	t.Helper()
	parts, err := argv.ParseText(s)
	require.NoError(t, err)
	return parts
}

func TestParseText(t *testing.T) {
	require.Equal(t, []argv.Part{{Literal: "--max="}, {Member: "limit"}, {Literal: "x"}}, text(t, "--max={limit}x"))
	require.Equal(t, []argv.Part{{Literal: "{a}"}}, text(t, "{{a}}"))
	require.Equal(t, []argv.Part{{Literal: ""}}, text(t, ""))
	for _, bad := range []string{"{", "}", "{}", "{a", "a}", "{a b}", "{a{b}}"} {
		_, err := argv.ParseText(bad)
		require.ErrorContains(t, err, "brace", bad)
	}
}

func TestCheck(t *testing.T) {
	members := map[string]argv.Schema{
		"any": {Type: argv.String}, "ref": {Type: argv.String, Pattern: "^[a-z]+$"}, "stat": {Type: argv.Boolean}, "key": {Type: argv.String, Sensitive: true},
		"paths": {Type: argv.Array, Items: &argv.Schema{Type: argv.String}}, "refs": {Type: argv.Array, Items: &argv.Schema{Type: argv.String, Pattern: "^[a-z]"}},
		"object": {Type: argv.Other}, "lists": {Type: argv.Array, Items: &argv.Schema{Type: argv.Array}},
	}
	git := argv.Element{Literal: "git"}
	end := argv.Element{Literal: "--", Terminator: true}
	for _, c := range []struct {
		name     string
		template argv.Template
		problem  string
	}{
		{"a value after an option", argv.Template{git, {Text: text(t, "--x={any}")}}, ""},
		{"a value that begins an argument", argv.Template{git, {Text: text(t, "{any}=x")}}, "option"},
		{"a safe value", argv.Template{git, {Arg: "ref"}, {Each: "refs"}}, ""},
		{"a free value", argv.Template{git, {Arg: "any"}}, "option"},
		{"after the terminator", argv.Template{git, end, {Arg: "any"}, {Each: "paths"}}, ""},
		{"before the terminator", argv.Template{git, {Each: "paths"}, end}, "option"},
		{"a literal that is no terminator", argv.Template{git, {Literal: "--"}, {Arg: "any"}}, "option"},
		{"an unknown member", argv.Template{git, {Arg: "nowhere"}}, "no member"},
		{"a sensitive member", argv.Template{git, end, {Arg: "key"}}, "x-sensitive"},
		{"an object", argv.Template{git, end, {Arg: "object"}}, "is a string"},
		{"arrays in an array", argv.Template{git, end, {Each: "lists"}}, "is a string"},
		{"an array as one", argv.Template{git, end, {Arg: "paths"}}, "each"},
		{"one as an array", argv.Template{git, end, {Each: "ref"}}, "each"},
		{"a flag", argv.Template{git, {When: "stat", Add: "--stat"}}, ""},
		{"a flag that is none", argv.Template{git, {When: "ref", Add: "--stat"}}, "no boolean"},
		{"a flag without a literal", argv.Template{git, {When: "stat"}}, "belong together"},
		{"a program that is a member", argv.Template{{Arg: "ref"}}, "program"},
		{"two at once", argv.Template{git, {Literal: "x", Arg: "ref"}}, "more than one"},
		{"a terminator that is a value", argv.Template{git, {Arg: "ref", Terminator: true}}, "belongs to a literal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := c.template.Check(members)
			if c.problem == "" {
				require.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			require.ErrorContains(t, problems[0], c.problem)
		})
	}
}

// SEMANTICS 7.5.1
func TestExpand(t *testing.T) {
	template := argv.Template{
		{Literal: "tool"}, {Text: []argv.Part{{Literal: "--n="}, {Member: "n"}}}, {When: "on", Add: "-v"},
		{Literal: "--", Terminator: true}, {Arg: "a"}, {Each: "list"},
	}
	for _, c := range []struct {
		members map[string]any
		want    []string
	}{
		{map[string]any{"n": int64(3), "on": true, "a": "-x", "list": []any{"b c", true}}, []string{"tool", "--n=3", "-v", "--", "-x", "b c", "true"}},
		{map[string]any{"n": nil, "on": false, "list": []any{}}, []string{"tool", "--"}},
		{nil, []string{"tool", "--"}},
	} {
		got, err := template.Expand(c.members)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestExpandRefuses(t *testing.T) {
	for _, c := range []struct {
		element argv.Element
		value   any
		problem string
	}{
		{argv.Element{Arg: "m"}, "a\x00b", "NUL"}, {argv.Element{Text: []argv.Part{{Member: "m"}}}, "\x00", "NUL"}, {argv.Element{Each: "m"}, []any{"\x00"}, "NUL"},
		{argv.Element{Arg: "m"}, 1.5, "float64"}, {argv.Element{Arg: "m"}, map[string]any{}, "map"}, {argv.Element{Each: "m"}, "a", "no array"},
		{argv.Element{Each: "m"}, []any{nil}, "null"}, {argv.Element{When: "m", Add: "x"}, "true", "no boolean"},
	} {
		_, err := argv.Template{c.element}.Expand(map[string]any{"m": c.value})
		require.ErrorContains(t, err, c.problem)
	}
}

// hostile returns a value that a shell, or a careless split, would make something else of.
func hostile(r *rand.Rand) string {
	list := []string{"-x", "--", "--help", "", " ", "a b", "\t", "\n", "$(id)", "`id`", "$HOME", "${IFS}", ";id", "|id", "&", "&&id", ">x", "<x", "*", "?", "[a]", "~", "!", "#",
		`"`, `'`, `\`, `\\`, `"a" 'b'`, "%s", "%n", "=", "a=b", "{m}", "{{", "\xff\xfe", "é", "\u202e", "\x1b[2J", "\r", "@file", "../..", "/etc/passwd", "con", "a,b", "-", "-o=/x"}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(list[r.IntN(len(list))])
	}
	return b.String()
}

// TestHostileValues runs a program that prints its arguments: how many there are and where is the
// template's, whatever the values hold.
// SEMANTICS 7.5.1
func TestHostileValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	self, err := os.Executable()
	require.NoError(t, err)
	for range battery.Count(t, 10, 200) {
		v, list := hostile(r), []any{hostile(r), hostile(r), hostile(r)}
		on := r.IntN(2) == 0
		template := argv.Template{{Literal: "program"}, {Text: text(t, "--a={v}")}, {Text: text(t, "[{v}|{v}]")}, {When: "on", Add: "--on"},
			{Text: text(t, "--none={absent}")}, {Arg: "absent"}, {Each: "absent"}, {Literal: "--", Terminator: true}, {Arg: "v"}, {Each: "list"}, {Literal: "last"}}
		got, err := template.Expand(map[string]any{"v": v, "list": list, "on": on})
		require.NoError(t, err)
		want := []string{"--a=" + v, "[" + v + "|" + v + "]"}
		if on {
			want = append(want, "--on")
		}
		want = append(want, "--", v, fmt.Sprint(list[0]), fmt.Sprint(list[1]), fmt.Sprint(list[2]), "last")
		c := exec.Command(self)
		c.Args, c.Env = got, append(os.Environ(), "AMBIT_PRINT_ARGV=1")
		out, err := c.Output()
		require.NoError(t, err)
		wanted, err := json.Marshal(want) // both go through JSON, which makes one of bytes that are no text
		require.NoError(t, err)
		require.Equal(t, string(wanted), string(out))
	}
}

// TestOnlyTheTemplateHasOptions: a template that passes Check has no argument before its terminator
// that begins with a dash, but those that it spells out.
func TestOnlyTheTemplateHasOptions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for pattern, may := range patterns {
		re, err := regexp.Compile(pattern)
		if may || err != nil {
			continue
		}
		members := map[string]argv.Schema{"v": {Type: argv.String, Pattern: pattern}}
		template := argv.Template{{Literal: "p"}, {Arg: "v"}}
		require.Empty(t, template.Check(members))
		for range 200 {
			v := hostile(r)
			if !re.MatchString(v) {
				continue
			}
			got, err := template.Expand(map[string]any{"v": v})
			require.NoError(t, err)
			require.True(t, len(got) == 2 && got[1] != "" && got[1][0] != '-', "%s: %q", pattern, got)
		}
	}
}
