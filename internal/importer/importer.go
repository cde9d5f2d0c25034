// Package importer makes a declaration of tools that exist: of what an MCP server answers
// to tools/list. It reads and writes no files, and nothing from the network.
package importer

import (
	"fmt"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/internal/importer/write"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// Options say how to import.
type Options struct {
	// Package is the Go package of a new declaration.
	Package string
	// Path names the declaration in messages.
	Path string
	// Over is the declaration to import into; nil: a new one is written.
	Over []byte
	// Open keeps objects open that say nothing about other members.
	Open bool
	// TrustHints takes the claims of the server about effects and about what is sensitive for true.
	TrustHints bool
}

// A Change is one thing that the declaration says in another way than the source.
type Change struct {
	Tool    string         `json:"tool"`    // the name in the source
	Pointer string         `json:"pointer"` // in the entry of the tool
	Kind    normalize.Kind `json:"kind"`
	Text    string         `json:"text"`
	Narrows bool           `json:"narrows"` // the declaration may refuse what the source accepts
	Pos     jsonschema.Pos `json:"-"`
}

// Left is a tool that is not imported.
type Left struct {
	Tool    string         `json:"tool"`
	Pointer string         `json:"pointer"`
	Reason  string         `json:"reason"`
	Hint    string         `json:"hint,omitempty"`
	Pos     jsonschema.Pos `json:"-"`
}

// A Result is what an import did.
type Result struct {
	// Text is the declaration; nil when no tool is imported.
	Text []byte
	// Tools are the names of the imported tools in the declaration.
	Tools   []string
	Changes []Change
	Left    []Left
	// Stay are the tools of the declaration that the source does not list.
	Stay []string
	// More is where the source says that it is one page of several; zero otherwise.
	More jsonschema.Pos
}

// Kinds of changes that concern a tool as a whole.
const (
	Named  normalize.Kind = "name"
	Output normalize.Kind = "output"
	Member normalize.Kind = "member_dropped"
	// OutputBehind is an output that may be no object.
	OutputBehind normalize.Kind = "output_member"
	// Unmarked is a mark of the declaration that goes with its member.
	Unmarked normalize.Kind = "sensitive_gone"
)

// Kinds describes every kind of change.
func Kinds() []normalize.KindInfo {
	return append([]normalize.KindInfo{
		{Kind: Named, What: "the name of the tool is none of a declaration: it is written as one, and becomes the `alias`"},
		{Kind: Output, What: "the source says nothing about the output: the declaration takes any object"},
		{Kind: OutputBehind, What: "the output may be an array, a text or another value: it stands behind the member `result`, which the handler writes"},
		{Kind: Member, What: "a member of the entry of the tool has no place in a declaration"},
		{Kind: Unmarked, What: "the member that the declaration marks `x-sensitive` is not in the source any more"},
	}, normalize.Kinds()...)
}

// MCP imports an answer to tools/list. The error says that the source, or the declaration
// to import into, cannot be read at all; it is a [*jsonschema.Error] for the source
// and [dsl.Diagnostics] for the declaration.
func MCP(src []byte, o Options) (*Result, error) {
	tools, left, more, err := readMCP(src)
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, result: &Result{Left: left}}
	if more != nil {
		r.result.More = more.Pos
	}
	if o.Over != nil {
		if r.declared, err = dsl.Parse(o.Path, o.Over, dsl.WithPatterns(gen.PatternFault)); err != nil {
			return nil, err
		}
		if r.over, err = write.Read(o.Over); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Path, err)
		}
	}
	tools, twins := apart(tools, r.nameOf)
	r.result.Left = append(r.result.Left, twins...)
	for _, t := range tools {
		r.tool(t)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.finish()
	return r.result, nil
}
