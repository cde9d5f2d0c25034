// Package answer says what tools make of inputs. The test of package dynamic
// asks interpreted tools, and a program around generated code, by it.
package answer

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An Input is a text for a tool.
type Input struct {
	Tool string
	Text []byte
}

// An Answer is what a tool makes of an input.
type Answer struct {
	Violations []wire.Violation `json:"violations"`
	Walk       []string         `json:"walk,omitempty"`     // a token each
	Encoding   string           `json:"encoding,omitempty"` // of the decoded value
	Again      []wire.Violation `json:"again,omitempty"`    // by which the encoding is refused
	Argv       []string         `json:"argv,omitempty"`     // of a command
	Refused    string           `json:"refused,omitempty"`  // why it has none
}

// To asks one of the tools.
func To(tools []*runtime.Tool, name string, text []byte) Answer {
	for _, t := range tools {
		if t.Name() != name {
			continue
		}
		v, bad := t.Decode(text)
		if bad != nil {
			return Answer{Violations: bad}
		}
		var walk tokens
		v.Walk(&walk)
		encoding, again := wire.Append(nil, v)
		answer := Answer{Walk: walk, Encoding: string(encoding), Again: again}
		argv, err := t.Argv(v)
		if answer.Argv = argv; err != nil {
			answer.Refused = err.Error()
		}
		return answer
	}
	return Answer{Encoding: "no tool " + name}
}

// Specs are the specifications of tools.
func Specs(tools []*runtime.Tool) []*runtime.Spec {
	specs := make([]*runtime.Spec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Main reads inputs from the standard input, as JSON, and prints a line with
// the specifications and a line per answer.
func Main(tools []*runtime.Tool) {
	var inputs []Input
	if err := json.NewDecoder(os.Stdin).Decode(&inputs); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(Specs(tools)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	for _, in := range inputs {
		if err := out.Encode(To(tools, in.Tool, in.Text)); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

// tokens writes down a walk: kind, value, sensitivity and rule of each token.
type tokens []string

// Visit writes down one token.
func (s *tokens) Visit(t wire.Token) {
	names := [...]string{"invalid", "object", "array", "end", "name", "string", "int", "float", "bool", "null"}
	line := names[t.Kind]
	switch t.Kind {
	case wire.KindObject, wire.KindArray, wire.KindInt:
		line += " " + strconv.FormatInt(t.Int, 10)
	case wire.KindName, wire.KindString, wire.KindInvalid:
		line += " " + strconv.Quote(t.Str)
	case wire.KindFloat:
		line += " " + strconv.FormatFloat(t.Float, 'g', -1, 64)
	case wire.KindBool:
		line += " " + strconv.FormatBool(t.Bool)
	}
	if t.Sensitive {
		line += " sensitive"
	}
	if t.Rule != nil {
		line += fmt.Sprintf(" %T", t.Rule)
	}
	*s = append(*s, line)
}
