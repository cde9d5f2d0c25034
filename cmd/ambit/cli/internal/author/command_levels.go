package author

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime/isolate"
	"github.com/ambit-tools/ambit/runtime/process"
)

// commandNotes say of each command in which tier it runs, and what its declared limits are on this
// host. A limit that is held less well than declared is a note too: the executor refuses the tool on
// such a host, and the declaration may be for another one.
func commandNotes(d *project.Declaration) ([]finding, error) {
	if d == nil {
		return nil, nil
	}
	tools, err := dynamic.Load(d.File)
	if err != nil {
		return nil, err
	}
	var notes []finding
	var runner *isolate.Runner // one for all commands: it examines the host once
	for i, t := range tools {
		if t.Spec.Command == nil {
			continue
		}
		if runner == nil {
			if runner, err = isolate.New(isolate.Options{}); err != nil {
				return nil, err
			}
		}
		spec := t.Spec.Command.Spec(0, t.Spec.Deadline)
		at := fieldPos(d.File.Tools[i], "command")
		levels, err := runner.Enforces(spec)
		notes = append(notes, note(at, fmt.Sprintf("tool %q: isolation: %s%s", t.Spec.Name, spec.Tier, declaredLevels(levels, spec))))
		if err != nil {
			refused := note(at, fmt.Sprintf("tool %q is refused on this host", t.Spec.Name))
			refused.Hint = strings.ReplaceAll(err.Error(), "\n", "; ")
			notes = append(notes, refused)
		}
	}
	return notes, nil
}

// declaredLevels lists what a host makes of the limits that a declaration gives.
func declaredLevels(levels process.Enforcement, spec *process.Spec) string {
	var list []string
	for _, name := range process.LimitNames() {
		if _, declared := spec.Accepts[name]; declared {
			list = append(list, fmt.Sprintf("%s is %s", name, levels.Of(name).Level))
		}
	}
	if list == nil {
		return ""
	}
	return ", and on this host " + strings.Join(list, ", ")
}
