package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/dsl"
)

func newInit() *cobra.Command {
	var local string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a small application to start from",
		Long: `Init writes a small application repository into DIR, which must be new or empty:
a declaration of two tools, their policy with its tests, handlers, generated
code, a program that carries out calls, and a script that tests the program.

Until this module is published, --local CHECKOUT makes the application build
against a checkout of it, without a network, by a replace line in its go.mod.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usage("init takes the folder to write", `for example "ambit init notes"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			app, err := newApplication(dir, local)
			if err != nil {
				return err
			}
			if err := uninterrupted(app.create); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", args[0])
			for _, hint := range app.nextSteps(args[0]) {
				fmt.Fprintf(cmd.ErrOrStderr(), "hint: %s\n", hint)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&local, "local", "", "build against the checkout of ambit at `CHECKOUT`")
	return cmd
}

// create writes the application into a folder beside its own, and moves it
// there when everything is in place.
func (a *application) create() error {
	if err := requireEmpty(a.dir); err != nil {
		return err
	}
	parent, err := existingParent(a.dir)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp(parent, ".ambit-init-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	if err := os.Chmod(stage, 0o755); err != nil {
		return err
	}
	if err := a.write(stage); err != nil {
		return err
	}
	return moveInto(stage, a.dir)
}

func (a *application) write(stage string) error {
	if err := a.render(stage); err != nil {
		return err
	}
	schema, err := dsl.EditorSchema()
	if err != nil {
		return err
	}
	tools := filepath.Join(stage, starterPackage)
	if err := os.WriteFile(filepath.Join(tools, "ambit.schema.json"), schema, 0o644); err != nil {
		return err
	}
	d, err := load(filepath.Join(tools, declarationName))
	if err != nil {
		return err
	}
	_, err = d.generate(false)
	return err
}

func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return problem(err.Error(), "name a new folder")
	case len(entries) > 0:
		return problem(quote(dir)+" is not empty", "init writes into a new or empty folder only")
	}
	return nil
}

// existingParent is the nearest folder above dir that exists.
func existingParent(dir string) (string, error) {
	parent := filepath.Dir(dir)
	info, err := os.Stat(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist) && parent != dir:
		return existingParent(parent)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", problem(quote(parent)+" is not a folder", "")
	}
	return parent, nil
}

// moveInto gives stage the name dir. A dir that exists keeps its identity, for
// somebody may be in it: the entries are moved instead.
func moveInto(stage, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return err
		}
		return os.Rename(stage, dir)
	}
	entries, err := os.ReadDir(stage)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if err := os.Rename(filepath.Join(stage, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			for _, moved := range entries[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, moved.Name())))
			}
			return err
		}
	}
	return nil
}
