package ir

import (
	"strings"
	"time"

	"github.com/ambit-tools/ambit/dsl"
)

// of adds a constant, whose name begins with prefix.
func (c composite) of(name, prefix, value string) {
	if value != "" {
		c.add(name, &Literal{Const: prefix + value})
	}
}

// slice adds composites of one type.
func (c composite) slice(name, typ string, all []composite) {
	if len(all) == 0 {
		return
	}
	l := &Literal{Type: typ, Slice: true}
	for _, e := range all {
		l.Elems = append(l.Elems, e.lit)
	}
	c.add(name, l)
}

// commandLiteral is what the runtime is told of a command.
func commandLiteral(t *dsl.Tool) composite {
	d := t.Command
	c := newComposite("Command").pointer()
	if d.Shell != nil {
		c.text("Program", d.Shell.With)
		c.text("Script", d.Shell.Script)
	} else {
		c.text("Program", programOf(d))
	}
	c.of("Tier", "Tier", map[string]string{"process": "Process"}[d.Tier])
	c.of("Network", "Network", map[string]string{"loopback": "Loopback"}[d.Network])
	c.of("Form", "Form", map[string]string{"lines": "Lines", "json": "JSON", "json_lines": "JSONLines"}[d.Output])
	c.slice("Env", "Variable", variableLiterals(d.Env))
	c.text("Dir", d.Dir)
	c.text("Stdin", d.Stdin)
	c.texts("Reads", d.Reads)
	c.slice("Caches", "Variable", variableLiterals(d.Caches))
	var exits []composite
	for _, x := range d.Exits {
		e := newComposite("ExitCode")
		e.count("Code", int64(x.Code))
		e.of("Category", "Exit", categoryNames[x.Category])
		e.flag("Retryable", x.Retryable)
		exits = append(exits, e)
	}
	c.slice("Exits", "ExitCode", exits)
	processLimits(c, t)
	return c
}

// programOf is the declared program, a literal.
func programOf(d *dsl.Command) string {
	if d.Run[0].Text != "" {
		return d.Run[0].Text
	}
	return d.Run[0].Literal
}

var categoryNames = map[string]string{
	"timeout": "Timeout", "permission_denied": "PermissionDenied", "command_not_found": "CommandNotFound",
	"resource_exhausted": "ResourceExhausted", "process_killed": "ProcessKilled", "system_error": "SystemError",
}

func variableLiterals(all []*dsl.Variable) (out []composite) {
	for _, v := range all {
		c := newComposite("Variable")
		c.text("Name", v.Name)
		c.text("Value", v.Value)
		out = append(out, c)
	}
	return out
}

// processLimits adds the limits that are declared, each with the level that is accepted for it.
func processLimits(c composite, t *dsl.Tool) {
	p := t.Limits.Process
	l := newComposite("ProcessLimits")
	var accepts []composite
	add := func(limit string, bound dsl.Bound, put func(name string, n int64)) {
		if bound.Max == 0 {
			return
		}
		put(limit, bound.Max)
		a := newComposite("AcceptedLevel")
		a.of("Limit", "Limit", limit)
		a.of("Level", "Level", levelName(bound.Enforcement))
		accepts = append(accepts, a)
	}
	add("Memory", dsl.Bound{Max: t.Limits.Memory, Enforcement: p.MemoryEnforcement}, l.size)
	l.flag("SharedMemory", p.SharedMemory)
	add("Processes", p.Processes, l.count)
	add("CPU", p.CPU, func(name string, n int64) { l.duration(name, time.Duration(n)) })
	add("File", p.File, l.size)
	add("Scratch", p.Scratch, l.size)
	add("Files", p.Files, l.count)
	l.size("Output", t.Limits.Output)
	c.nested("Limits", l)
	c.slice("Accepts", "AcceptedLevel", accepts)
	c.duration("StopGrace", p.StopGrace)
}

func levelName(declared string) string {
	if declared == "" {
		return "Watched"
	}
	return strings.ToUpper(declared[:1]) + declared[1:]
}

// commandObject is everything that a command says, for the pin.
func commandObject(t *dsl.Tool) object {
	d, p := t.Command, t.Limits.Process
	o := object{{"tier", d.Tier}, {"network", d.Network}, {"form", d.Output}, {"dir", d.Dir}, {"stdin", d.Stdin}, {"reads", list(d.Reads)}}
	for _, e := range d.Run {
		o.set("element", append(list([]string{e.Text, e.Literal, e.Arg, e.Each, e.When, e.Add}), e.Terminator))
	}
	if d.Shell != nil {
		o.set("shell", list([]string{d.Shell.With, d.Shell.Script}))
	}
	for _, v := range d.Env {
		o.set("env", list([]string{v.Name, v.Value}))
	}
	for _, v := range d.Caches {
		o.set("cache", list([]string{v.Name, v.Value}))
	}
	for _, x := range d.Exits {
		o.set("exit", []any{int64(x.Code), x.Category, x.Retryable})
	}
	for _, b := range []dsl.Bound{{Max: t.Limits.Memory, Enforcement: p.MemoryEnforcement}, p.Processes, p.CPU, p.File, p.Scratch, p.Files} {
		o.set("limit", []any{b.Max, b.Enforcement})
	}
	o.set("shared", p.SharedMemory)
	o.set("stop_grace", int64(p.StopGrace))
	return o
}
