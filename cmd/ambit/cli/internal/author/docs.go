package author

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/gen/dynamic"
)

// docsHelp is the help of "ambit docs".
const docsHelp = `Docs writes the catalog of tools as Markdown: of each tool its effect, the members of
its input and output, its rules, what a person is asked, how long it can be undone, its
limits with those that are declared and not enforced, and whether it is deprecated.

FILE is a declaration. DIR stands for every tools.yaml in it and below, without folders
that are hidden, or named testdata, vendor or node_modules. Without an argument it is
the folder that you are in.

The same declarations give the same bytes, so that a difference shows drift:

  ambit docs | diff TOOLS.md -

A text of a declaration never becomes markup.`

// docsMark is the first line of what docs writes. A file without it is not replaced.
const docsMark = `<!-- Written by "ambit docs". DO NOT EDIT. -->` + "\n"

// NewDocs returns "ambit docs".
func NewDocs() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "docs [FILE|DIR]",
		Short: "Write the catalog of tools as Markdown",
		Long:  docsHelp,
		Args:  cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := catalogOf(append(args, ".")[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = "-"
			}
			if err := refuseForeign(out); err != nil {
				return err
			}
			return writeOut(cmd.OutOrStdout(), out, text)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write this `file`, and nothing to standard output; - is standard output")
	return cmd
}

// catalogOf is the catalog of the declarations that a path stands for.
func catalogOf(path string) ([]byte, error) {
	paths, err := declarationsAt(path)
	if err != nil {
		return nil, err
	}
	m := &markdown{depth: 1}
	m.WriteString(docsMark)
	if len(paths) > 1 {
		m.heading(text("Tools"))
		m.depth++
	}
	var all error
	for _, p := range paths {
		all = errors.Join(all, m.addDeclaration(p))
	}
	return m.Bytes(), all
}

// addDeclaration writes the tools of one declaration.
func (m *markdown) addDeclaration(path string) error {
	d, err := project.Load(path)
	if err != nil {
		return err
	}
	tools, err := dynamic.Tools(d.File, nil)
	if err != nil {
		return err
	}
	return m.declaration(d.File.Package, tools)
}

// declarationsAt returns the declarations that a path stands for, in the order of their names.
func declarationsAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cmdutil.FileProblem(path, err, `name a declaration, or begin with "ambit init DIR"`)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var found []string
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return cmdutil.FileProblem(at, err, "name a folder that you may read")
		case entry.IsDir() && at != path && passedOver(entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && entry.Name() == project.DeclarationName:
			found = append(found, at)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = cmdutil.Problem("there is no "+cmdutil.Quote(project.DeclarationName)+" in "+cmdutil.Quote(path)+" or below", "name the declaration itself")
	}
	return found, err
}

// passedOver reports whether no declarations of an application are in folders of this name.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || name == "testdata" || name == "vendor" || name == "node_modules"
}

// refuseForeign refuses to replace a file that docs did not write.
func refuseForeign(path string) error {
	if toStdout(path) || isStream(path) {
		return nil
	}
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cmdutil.FileProblem(path, err, "name a file that you may write")
	case len(old) > 0 && !bytes.HasPrefix(old, []byte(docsMark)):
		return cmdutil.Problem(cmdutil.Quote(path)+` was not written by "ambit docs"`, "name another file, or delete it")
	}
	return nil
}
