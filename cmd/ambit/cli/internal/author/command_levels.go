package author

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// inProcess is the tier of a tool that has a handler.
const inProcess = "in process"

// A boxing is what this host makes of the commands of a declaration.
type boxing struct {
	notes   []finding
	refused dsl.Diagnostics // limits that are held less well than declared
	tiers   []string        // of each tool, in the order of the declaration
}

// commandLevels says of each command in which tier it runs, and what its declared limits are on
// this host.
func commandLevels(d *project.Declaration) (boxing, error) {
	var b boxing
	if d == nil {
		return b, nil
	}
	tools, err := dynamic.Load(d.File)
	if err != nil {
		return b, err
	}
	var runner *isolate.Runner // one for all commands: it examines the host once
	for i, t := range tools {
		if t.Spec.Command == nil {
			b.tiers = append(b.tiers, inProcess)
			continue
		}
		if runner == nil {
			if runner, err = isolate.New(isolate.Options{}); err != nil {
				return b, err
			}
		}
		b.command(d.File, d.File.Tools[i], process.SpecOf(t.Spec.Command, 0, t.Spec.Deadline), runner)
	}
	return b, nil
}

// command adds one command.
func (b *boxing) command(f *dsl.File, t *dsl.Tool, spec *process.Spec, runner *isolate.Runner) {
	b.tiers = append(b.tiers, spec.Tier.String())
	levels, err := runner.Enforces(spec)
	message := fmt.Sprintf("tool %q: isolation: %s%s", t.Name, spec.Tier, declaredLevels(levels, spec))
	b.notes = append(b.notes, note(fieldPos(t, "command"), message))
	if err == nil {
		return
	}
	if host := runner.Host(); spec.Tier == runtime.TierSandbox && !host.Sandbox {
		at := cmp.Or(t.Keys["isolation"], t.Command.Pos)
		b.refuse(f, at, "check it where it runs, or declare isolation: process for a tool that needs no box",
			"tool %q: isolation: this host cannot build the tier sandbox: %s", t.Name, host.WhyNot)
		return
	}
	before := len(b.refused)
	for _, name := range runtime.LimitNames() {
		is, takes, declared := levelsOf(levels, spec, name)
		if !declared || is.Level <= takes {
			continue
		}
		hint := "change the tier, or check it where it runs"
		if is.Level == runtime.LevelAdvisory || is.Level == runtime.LevelWatched {
			hint = fmt.Sprintf("declare enforcement: %s for it, or change the tier, or check it where it runs", is.Level)
		}
		at, key := cmp.Or(t.LimitKeys[string(name)], fieldPos(t, "limits")), "limits."+string(name)
		if name == runtime.LimitLoopback {
			at, key = t.Command.Keys["network"], "command.network: loopback"
		}
		b.refuse(f, at, hint, "tool %q: %s is %s on this host and the declaration takes no less than %s: %s", t.Name, key, is.Level, takes, is.Note)
	}
	if len(b.refused) == before {
		b.refuse(f, t.Command.Pos, "", "tool %q: %s", t.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func (b *boxing) refuse(f *dsl.File, at dsl.Pos, hint, format string, args ...any) {
	b.refused = append(b.refused, f.Diagnostic(at, hint, format, args...))
}

// elsewhere makes notes of what this host refuses, for a declaration that runs on another one.
func (b *boxing) elsewhere() {
	for _, d := range b.refused {
		n := note(d.Pos, d.Message)
		n.Hint = d.Hint
		b.notes = append(b.notes, n)
	}
	b.refused = nil
}

// levelsOf returns what a limit is and which level the declaration takes, if it declares it. The network
// is declared too.
func levelsOf(levels process.Enforcement, spec *process.Spec, name runtime.LimitName) (is process.LimitLevel, takes runtime.Level, declared bool) {
	takes, declared = spec.Accepts[name]
	if name == runtime.LimitLoopback && spec.Network == runtime.NetworkLoopback {
		takes, declared = runtime.LevelEnforced, true
	}
	return levels.Of(name), takes, declared
}

// declaredLevels lists what a host makes of the limits that a declaration gives.
func declaredLevels(levels process.Enforcement, spec *process.Spec) string {
	var list []string
	for _, name := range runtime.LimitNames() {
		if is, _, declared := levelsOf(levels, spec, name); declared {
			list = append(list, fmt.Sprintf("%s is %s", name, is.Level))
		}
	}
	if list == nil {
		return ""
	}
	return ", and on this host " + strings.Join(list, ", ")
}

// tierLines says which tools run in which tier.
func (b *boxing) tierLines(tools []*dsl.Tool) string {
	var lines strings.Builder
	for _, tier := range []string{inProcess, runtime.TierSandbox.String(), runtime.TierProcess.String()} {
		var names []string
		for i, t := range tools {
			if b.tiers[i] == tier {
				names = append(names, t.Name)
			}
		}
		if names != nil {
			fmt.Fprintf(&lines, "isolation: %s: %s\n", tier, strings.Join(names, ", "))
		}
	}
	return lines.String()
}
