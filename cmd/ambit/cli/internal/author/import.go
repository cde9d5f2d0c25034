package author

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/internal/importer"
)

// importFlags are the flags of import.
type importFlags struct {
	out, pkg                  string
	check, json, open, trusts bool
}

// NewImport returns "ambit import".
func NewImport() *cobra.Command {
	return cmdutil.NewGroup("import", "Make a declaration of tools that exist", newImportMCP())
}

// importHelp is the help of "ambit import mcp".
const importHelp = `Mcp writes a declaration, tools.yaml, of the tools that an MCP server lists: FILE holds
the answer to tools/list, the whole JSON-RPC answer, or the list itself; - is standard
input. Nothing is read from the network.

Standard error names each change by tool, pointer and kind. A change keeps the values
that a schema accepts, or narrows them and says so. A tool that cannot be imported is
left out with the reason, the others are written, and the exit code is 1.

What a server says of the effects of its tools is a claim: every tool becomes
destructive, with the claim in a comment. So is its mark x-sensitive, which hides a value
from approvers and logs: it is kept and named. --trust-hints believes both.

Importing over a declaration replaces descriptions and schemas where they differ, adds
tools, and keeps everything else that it says. The diff is printed first.`

func newImportMCP() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "mcp FILE|-",
		Short: "Make a declaration of the tools that an MCP server lists",
		Long:  importHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return cmdutil.Usage(cmdutil.Quote(cmd.CommandPath())+" takes the file with the answer to tools/list, or - for standard input", "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", project.DeclarationName, "the declaration to write, or to import into; - is standard output")
	cmd.Flags().StringVar(&f.pkg, "package", "", "the Go `package` of a new declaration; that of its folder otherwise")
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing; end with code 1 if a tool is left out")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the changes as JSON")
	cmd.Flags().BoolVar(&f.open, "open", false, "keep objects open that say nothing about other members")
	cmd.Flags().BoolVar(&f.trusts, "trust-hints", false, "take what the server says of effects, and of what is sensitive, for true")
	return cmd
}

func (f *importFlags) run(cmd *cobra.Command, from string) error {
	if f.json && !f.check && toStdout(f.out) {
		return cmdutil.Usage("--json and --out "+cmdutil.Quote(f.out)+" both write to standard output", "name a file with --out, or leave --json out")
	}
	src, name, err := readSource(cmd.InOrStdin(), from)
	if err != nil {
		return err
	}
	o := importer.Options{Path: f.out, Open: f.open, TrustHints: f.trusts}
	if o.Over, err = f.existing(); err != nil {
		return err
	}
	if o.Package, err = f.goPackage(o.Over != nil); err != nil {
		return err
	}
	r, err := importer.MCP(src, o)
	if err != nil {
		return sourceProblem(name, err)
	}
	changed := r.Text != nil && !bytes.Equal(r.Text, o.Over)
	if !f.json {
		printImport(cmd.ErrOrStderr(), name, r)
	}
	if changed && o.Over != nil {
		text := diff.Diff(f.out, o.Over, f.out+" (imported)", r.Text)
		_, text, _ = bytes.Cut(text, []byte("\n"))
		cmd.ErrOrStderr().Write(text) //nolint:errcheck // as every message
	}
	if changed && !f.check {
		if err := writeOut(cmd.OutOrStdout(), f.out, r.Text); err != nil {
			return err
		}
	}
	said := cmd.OutOrStdout()
	if toStdout(f.out) && !f.check {
		said = cmd.ErrOrStderr() // standard output has the declaration
	}
	return f.answer(said, r, o.Over != nil, changed)
}

// answer says what was done, and by the exit code whether anything is left over.
// over says that there is a declaration to import into.
func (f *importFlags) answer(w io.Writer, r *importer.Result, over, changed bool) error {
	left := len(r.Left) > 0 || r.More.Line > 0
	if f.json {
		if err := printImportJSON(w, r, changed && !f.check); err != nil {
			return err
		}
	} else {
		did := "imported"
		switch {
		case f.check:
			did = "would import"
		case r.Text == nil && !over:
			did = "not written: imported"
		case !changed:
			did = "unchanged with"
		}
		fmt.Fprintf(w, "%s: %s %d of %s\n", f.out, did, len(r.Tools), cmdutil.Count(len(r.Tools)+len(r.Left), "tool"))
	}
	if left {
		return cmdutil.Answered(cmdutil.ExitProblem)
	}
	return nil
}

// sourceLimit bounds what is read of a source.
const sourceLimit = 64 << 20

// readSource reads a file, or standard input, and returns how to name it.
func readSource(stdin io.Reader, from string) (src []byte, name string, err error) {
	in, name := stdin, "standard input"
	if from != "-" {
		f, err := os.Open(from)
		if err != nil {
			return nil, from, cmdutil.FileProblem(from, err, "name a file with the answer to tools/list")
		}
		defer f.Close()
		in, name = f, from
	}
	src, err = io.ReadAll(io.LimitReader(in, sourceLimit+1))
	if err != nil {
		return nil, name, cmdutil.FileProblem(name, err, "name a file that you may read")
	}
	if len(src) > sourceLimit {
		return nil, name, cmdutil.Problem(name+" has more than 64 MiB", "split the list of tools")
	}
	return src, name, nil
}

// existing is the declaration to import into; nil when there is none.
func (f *importFlags) existing() ([]byte, error) {
	if toStdout(f.out) || isStream(f.out) {
		return nil, nil
	}
	old, err := os.ReadFile(f.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, cmdutil.FileProblem(f.out, err, "name a declaration that you may read and write")
	case len(bytes.TrimSpace(old)) == 0:
		return nil, nil
	}
	return old, nil
}

// goPackage is the package of a new declaration.
func (f *importFlags) goPackage(exists bool) (string, error) {
	if f.pkg != "" {
		switch {
		case exists:
			return "", cmdutil.Usage("--package names the package of a new declaration, and "+cmdutil.Quote(f.out)+" exists", "leave it out")
		case !token.IsIdentifier(f.pkg) || f.pkg == "_":
			return "", cmdutil.Usage("--package "+cmdutil.Quote(f.pkg)+" is no name of a Go package", "name it after the tools, in lower-case letters")
		}
		return f.pkg, nil
	}
	dir := filepath.Dir(f.out)
	if toStdout(f.out) || isStream(f.out) {
		dir = "."
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(filepath.Base(dir)))
	name = strings.TrimLeft(name, "0123456789")
	if !token.IsIdentifier(name) || len(name) > 64 || special(name) {
		return "imported", nil
	}
	return name, nil
}

// replaceFile writes a file as a whole, or leaves what was there.
func replaceFile(path string, text []byte) error {
	problem := func(err error) error {
		return cmdutil.FileProblem(path, err, "name a file that you may write")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ambit-import-*")
	if err != nil {
		return problem(err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone once it has been renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return problem(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return problem(err)
	}
	return nil
}
