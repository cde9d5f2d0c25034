package author

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/evolution"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// codeBreaking is the code of a change that breaks something.
const codeBreaking = "breaking"

// compared holds a declaration against an earlier one: an error for each change that breaks
// something without a version that says so, and a note for one with it.
func compared(d *project.Declaration, against string) ([]finding, error) {
	if against == "" || d == nil {
		return nil, nil
	}
	old, respelled, err := earlier(d.Path, against)
	if err != nil {
		return nil, err
	}
	var notes []finding
	if respelled {
		n := note(d.File.PackagePos, against+" has patterns that are refused now: pins and names in Go are not compared")
		notes = append(notes, n)
	}
	var broken cmdutil.CodedErrors
	breaks := evolution.Compare(old, d.File)
	if was, is := pins(old), pins(d.File); was != nil && is != nil {
		breaks = append(breaks, evolution.Stale(old, d.File, was, is)...)
	}
	if was, is := places(old), places(d.File); was != nil && is != nil {
		breaks = append(breaks, evolution.InGo(old, d.File, was, is)...)
	}
	for _, b := range breaks {
		text := fmt.Sprintf("breaks %s: %s", strings.Join(b.For, ", "), b.Text)
		if b.Tool != "" {
			text = fmt.Sprintf("tool %q: %s", b.Tool, text)
		}
		if b.Allowed {
			n := note(b.Pos, text)
			n.Code = codeBreaking
			notes = append(notes, n)
			continue
		}
		broken = append(broken, cmdutil.CodedError{Code: codeBreaking, At: d.File.Diagnostic(b.Pos, b.Hint, "%s", text)})
	}
	if len(broken) > 0 {
		return notes, broken
	}
	return notes, nil
}

// pins are those of the tools of a declaration, by their names; nil where no code can be
// generated from it, which is said elsewhere.
func pins(f *dsl.File) map[string]string {
	tools, err := dynamic.Load(f)
	if err != nil {
		return nil
	}
	all := make(map[string]string, len(tools))
	for _, t := range tools {
		all[t.Spec.Name] = t.Spec.Pin
	}
	return all
}

// places are what has a name in Go in a declaration; nil where no code can be generated from it, which is
// said elsewhere.
func places(f *dsl.File) []gen.Place {
	all, err := gen.Places(f)
	if err != nil {
		return nil
	}
	return all
}

// earlier reads the declaration to compare with: a file, or git:REF, the file at path as it
// is in that revision. Patterns that ECMA-262 takes without the flag u alone are no faults of it, since they were none once:
// respelled reports whether it has any.
func earlier(path, against string) (f *dsl.File, respelled bool, err error) {
	patterns := dsl.WithPatterns(func(pattern string) (fault, hint string) {
		if fault, hint = gen.PatternFault(pattern); fault == "" {
			return "", ""
		}
		if _, ok := wire.RespellPattern(pattern); ok {
			respelled = true
			return "", ""
		}
		return fault, hint
	})
	ref, ok := strings.CutPrefix(against, "git:")
	if !ok {
		f, err = project.Parse(against, patterns)
		return f, respelled, err
	}
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, ":\n\x00") {
		return nil, false, cmdutil.Usage("--against "+cmdutil.Quote(against)+" names no revision", "write git:main, or git:v1.2.0")
	}
	files := revision{ref: ref, dir: filepath.Dir(path)}
	src, err := files.ReadFile(filepath.Base(path))
	if err != nil {
		return nil, false, cmdutil.Problem("git knows no "+cmdutil.Quote(path)+" at "+cmdutil.Quote(ref)+": "+err.Error(), "name a revision that has the declaration, or a file")
	}
	f, err = dsl.Parse(against+":"+filepath.Base(path), src, patterns, dsl.WithFiles(files))
	return f, respelled, err
}

// A revision is a folder as git knows it.
type revision struct{ ref, dir string }

// Open is not needed: references read whole files.
func (r revision) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// ReadFile returns a file of the folder.
func (r revision) ReadFile(name string) ([]byte, error) {
	cmd := exec.Command("git", "show", "--end-of-options", r.ref+":./"+name)
	cmd.Dir = r.dir
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		why, _, _ := strings.Cut(strings.TrimSpace(told.String()), "\n")
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			why = err.Error()
		}
		return nil, errors.New(why)
	}
	return out.Bytes(), nil
}
