package dynamic

import (
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// newCommand returns a tool that runs a process, whose arguments the template of the declaration
// makes.
func (t *Tool) newCommand() *runtime.Tool {
	c := t.command
	var stdin func(wire.Value) string
	if c.Stdin != nil {
		stdin = func(in wire.Value) string {
			text, _ := members(in.(*value))[c.Stdin.Name].(string)
			return text
		}
	}
	return runtime.NewDynamicCommandTool(t.Spec, t.Input, t.Output, t.args, stdin)
}

// args returns the arguments of a command for an input.
func (t *Tool) args(in wire.Value) ([]string, error) {
	return t.command.Template.Expand(members(in.(*value)))
}

// StandIn returns the options of a tool that stands in for t in a simulation and starts nothing: for a
// command, what it would run.
func (t *Tool) StandIn() []runtime.DynamicOption {
	if t.command == nil {
		return nil
	}
	return []runtime.DynamicOption{runtime.WithDynamicCommand(func(in wire.Value) ([]string, error) {
		if _, decoded := in.(*value); !decoded { // by another codec: no arguments are known
			return nil, nil
		}
		return t.args(in)
	})}
}

// members are the values of an input that arguments can be made of, by their names. What is absent
// or null is left out.
func members(in *value) map[string]any {
	all := map[string]any{}
	for i, f := range in.t.Fields {
		if f.Type.Kind == ir.KindFixed {
			all[f.Name] = f.Type.Rule.String.Enum[0]
		} else if in.items[i].set {
			if v := argument(&in.items[i]); v != nil {
				all[f.Name] = v
			}
		}
	}
	return all
}

// argument is a value as a template takes it; nil for what is null, or no argument.
func argument(v *value) any {
	switch v.t.Kind {
	case ir.KindString, ir.KindEnum:
		return v.text
	case ir.KindInt, ir.KindIntEnum:
		return v.int
	case ir.KindBool:
		return v.bool
	case ir.KindArray:
		list := make([]any, len(v.items))
		for i := range v.items {
			list[i] = argument(&v.items[i])
		}
		return list
	case ir.KindNull, ir.KindPointer:
		if v.inner != nil {
			return argument(v.inner)
		}
	}
	return nil
}
