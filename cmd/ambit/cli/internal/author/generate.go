package author

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// uninterrupted puts an interrupt off until work is done: between two files it
// would leave half of them new.
func uninterrupted(work func() error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	return work()
}

// generateHelp is the help text of "ambit generate".
func generateHelp() string {
	return `Generate writes the files of a declaration beside it: Go code, JSON Schemas, and
the declarations and type headers that its policies are checked against; and the
schema for editors that its first line names, see "ambit schema". Without an
argument it takes ./tools.yaml, or the only */tools.yaml.

Files are replaced atomically and only when their content changes; nothing is
written when the declaration has an error, or names another package than the Go
files beside it. Files of an earlier run that are no longer wanted are removed. A
file that ambit did not write is never touched.

With -check it also names files among the generated policies that were not
generated: the policies would not load.

With --dialect it also writes the input schemas in what a provider of models takes of
JSON Schema, below schemas and the name of the dialect: ` + dialectNames() + `.
Programs in Go need no such files: runtime/models rewrites the schemas itself. Every
run, also with -check, needs the same dialects: the files of others are removed.
"ambit check --dialect" notes what a dialect cannot say.

Changed files are listed on standard output. Put this line into a Go file of the
package to run it by "go generate":

  //go:generate go tool ambit generate`
}

// NewGenerate returns "ambit generate".
func NewGenerate() *cobra.Command {
	var check, asJSON bool
	var names []string
	cmd := &cobra.Command{
		Use:   "generate [FILE|DIR]",
		Short: "Write the Go code, schemas and policy data of a declaration",
		Long:  generateHelp(),
		Args:  cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := dialects(names)
			if err != nil {
				return err
			}
			path, err := project.Locate(args)
			if err != nil {
				return err
			}
			d, err := project.Load(path)
			if err != nil {
				return err
			}
			if err := refusePackage(d); err != nil {
				return err
			}
			if err := addDialects(d, in); err != nil {
				return err
			}
			changes, err := generate(d, check)
			if err == nil || check {
				err = errors.Join(err, printChanges(cmd.OutOrStdout(), d.Dir, changes, check, asJSON))
			}
			printWarnings(cmd.ErrOrStderr(), declared(d.File))
			if check {
				err = errors.Join(err, refuseStrays(d))
			}
			if check && len(changes) > 0 {
				err = errors.Join(err, drift(path, len(changes)))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; list what differs and end with code 3 if anything does")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	cmd.Flags().StringSliceVar(&names, "dialect", nil, "also write the input schemas in these `dialects`")
	return cmd
}

// addDialects adds the inputs of d in dialects to its files.
func addDialects(d *project.Declaration, in []dialect.Dialect) error {
	for _, name := range in {
		files, err := gen.DialectFiles(d.File, name)
		if err != nil {
			return err
		}
		d.Out = append(d.Out, files...)
	}
	return nil
}

// generate brings the files on disk in line with d, or with check only says
// what that would change.
func generate(d *project.Declaration, check bool) ([]change, error) {
	tree, err := openTree(d)
	if err != nil {
		return nil, err
	}
	defer tree.close()
	changes, err := tree.compare()
	if err != nil || check {
		return changes, err
	}
	return changes, uninterrupted(func() error { return tree.apply(changes) })
}

// refuseStrays names what stands among the generated policies and is not one of
// them: the policies would not load.
func refuseStrays(d *project.Declaration) error {
	strays, err := d.Strays()
	for _, name := range strays {
		at := filepath.Join(project.PolicyDir(d.Path), project.GeneratedFolder, name)
		err = errors.Join(err, cmdutil.Problem(cmdutil.Quote(at)+" was not generated from "+cmdutil.Quote(d.Path), "delete it, or move it out of "+project.GeneratedFolder))
	}
	return err
}

func drift(path string, n int) error {
	what := "1 generated file differs"
	if n > 1 {
		what = fmt.Sprintf("%d generated files differ", n)
	}
	return cmdutil.Verdict(what+" from what "+cmdutil.Quote(path)+" declares", "run "+cmdutil.Quote("ambit generate "+path)+" and commit the result")
}

// printChanges lists changes with the paths that the user would type.
func printChanges(w io.Writer, dir string, changes []change, check, asJSON bool) error {
	type line struct {
		File  string `json:"file"`
		State string `json:"state"`
	}
	lines := make([]line, 0, len(changes))
	for _, c := range changes {
		state := c.state.done()
		if check {
			state = c.state.found()
		}
		lines = append(lines, line{filepath.Join(dir, filepath.FromSlash(c.name)), state})
	}
	if asJSON {
		return cmdutil.PrintJSON(w, map[string]any{"changes": lines})
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s %s\n", l.State, l.File)
	}
	return nil
}
