package dynamic

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime"
)

// variables makes what the variables of the generated package hold that
// specifications point to.
func variables(p *ir.Package) (map[string]any, error) {
	if p.SetRules == nil {
		return nil, nil
	}
	set := new(runtime.Rules)
	var l literal
	l.set(reflect.ValueOf(set).Elem(), p.SetRules)
	return map[string]any{p.SetVar: set}, l.err
}

// newSpec makes the value that the literal of a tool's Spec is in generated code.
func newSpec(t *ir.Tool, pointers map[string]any) (*runtime.Spec, error) {
	names := map[string]string{t.Const: t.Decl.Name}
	pointers = maps.Clone(pointers)
	if pointers == nil {
		pointers = map[string]any{}
	}
	for i, schema := range [][]byte{t.InputSchema, t.OutputSchema, t.StateSchema} {
		if i < len(t.Embeds) {
			pointers[t.Embeds[i].Var] = new(string(schema))
		}
	}
	s := new(runtime.Spec)
	l := literal{names: names, pointers: pointers}
	l.set(reflect.ValueOf(s).Elem(), t.Spec)
	return s, l.err
}

// A literal turns Go literals into values.
type literal struct {
	names    map[string]string // what the names of the generated package stand for
	pointers map[string]any    // what the addresses of its variables are
	err      error             // the first
}

// constants are those of package runtime that specifications use.
func constants() map[string]any {
	return map[string]any{
		"SideEffectDestructive": runtime.SideEffectDestructive, "SideEffectWrite": runtime.SideEffectWrite, "SideEffectRead": runtime.SideEffectRead,
		"DedupeNever": runtime.DedupeNever, "DedupeWindow": runtime.DedupeWindow, "DedupeAlways": runtime.DedupeAlways,
		"ConsentAskPolicy": runtime.ConsentAskPolicy, "ConsentAskAlways": runtime.ConsentAskAlways,
		"CoverExact": runtime.CoverExact, "CoverArgs": runtime.CoverArgs, "CoverTool": runtime.CoverTool,

		"TierProcess": runtime.TierProcess, "NetworkLoopback": runtime.NetworkLoopback,
		"FormLines": runtime.FormLines, "FormJSON": runtime.FormJSON, "FormJSONLines": runtime.FormJSONLines,
		"ExitTimeout": runtime.ExitTimeout, "ExitPermissionDenied": runtime.ExitPermissionDenied, "ExitCommandNotFound": runtime.ExitCommandNotFound,
		"ExitResourceExhausted": runtime.ExitResourceExhausted, "ExitProcessKilled": runtime.ExitProcessKilled, "ExitSystemError": runtime.ExitSystemError,
		"LimitMemory": runtime.LimitMemory, "LimitProcesses": runtime.LimitProcesses, "LimitCPU": runtime.LimitCPU,
		"LimitFile": runtime.LimitFile, "LimitScratch": runtime.LimitScratch, "LimitFiles": runtime.LimitFiles,
		"LevelEnforced": runtime.LevelEnforced, "LevelWatched": runtime.LevelWatched, "LevelAdvisory": runtime.LevelAdvisory,
	}
}

func units() map[string]time.Duration {
	return map[string]time.Duration{
		"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
		"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
	}
}

// set gives dst the value of v.
func (l *literal) set(dst reflect.Value, v *ir.Literal) {
	switch {
	case v.Slice:
		dst.Set(reflect.MakeSlice(dst.Type(), len(v.Elems), len(v.Elems)))
		for i, e := range v.Elems {
			l.set(dst.Index(i), e)
		}
	case v.Type != "":
		if v.Ptr {
			dst.Set(reflect.New(dst.Type().Elem()))
			dst = dst.Elem()
		}
		for _, f := range v.Fields {
			l.set(dst.FieldByName(f.Name), f.Value)
		}
	case v.String != nil:
		dst.SetString(*v.String)
	case v.Int != nil:
		dst.SetInt(*v.Int << v.Shift)
	case v.Const != "":
		c, ok := constants()[v.Const]
		if !ok {
			l.unknown("constant", v.Const)
			return
		}
		dst.Set(reflect.ValueOf(c))
	case v.Ident != "" && v.Ptr:
		pointer, ok := l.pointers[v.Ident]
		if !ok {
			l.unknown("variable", v.Ident)
			return
		}
		dst.Set(reflect.ValueOf(pointer))
	case v.Ident != "":
		s, ok := l.names[v.Ident]
		if !ok {
			l.unknown("name", v.Ident)
		}
		dst.SetString(s)
	case v.Unit != "":
		dst.SetInt(v.Count * int64(units()[v.Unit]))
	default:
		dst.SetBool(v.Bool)
	}
}

func (l *literal) unknown(what, name string) {
	if l.err == nil {
		l.err = fmt.Errorf("the specification uses the %s %s, which package dynamic does not know", what, name)
	}
}
