package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
)

// initFlags are the flags of init.
type initFlags struct{ local, module, pkg, model string }

// NewInit returns "ambit init".
func NewInit() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a small application to start from",
		Long: `Init writes a small application into DIR: a declaration of two tools, their
policy with its tests, handlers, generated code, a program that carries out
calls, and a script that tests the program. It makes no git repository.

DIR is made if need be. It may hold .git, and files like .gitignore, README and
LICENSE: those stay as they are. Anything else in it is refused.

Its module is example.com/NAME after the folder, or that of --module; its tools
are package notetools, or that of --package. What could not be built is refused.

With --model it has a program, too, in which a model of a provider works with the
tools: anthropic, openai or genai.

Until ambit is published, --local CHECKOUT makes the application build against a
checkout of it, without a network, by a replace line in its go.mod.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return cmdutil.Usage("init takes the folder to write", `for example "ambit init notes"`)
			case len(args) > 1:
				return cmdutil.Usage("init takes one folder, and "+cmdutil.Quote(args[1])+" is one too many", "leave it out, or quote a name with spaces")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.refuseEmpty(cmd); err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if strings.ContainsFunc(dir, badInPath) {
				return cmdutil.Usage("the path "+cmdutil.Quote(dir)+" has a character that Go does not take", "name a folder without backslashes and control characters")
			}
			app, err := newApplication(args[0], filepath.Base(dir), &f)
			if err != nil {
				return err
			}
			if err := uninterrupted(app.create); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", args[0])
			if len(app.kept) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: kept your %s\n", strings.Join(app.kept, ", "))
			}
			for _, hint := range append(app.unignored(), app.nextSteps(args[0])...) {
				fmt.Fprintf(cmd.ErrOrStderr(), "hint: %s\n", hint)
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// add gives a command the flags.
func (f *initFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.local, "local", "", "build against the checkout of ambit at `CHECKOUT`")
	cmd.Flags().StringVar(&f.module, "module", "", "`PATH` of the Go module (default example.com/NAME)")
	cmd.Flags().StringVar(&f.model, "model", "", "add a program that asks a model by the SDK of `PROVIDER`: anthropic, openai or genai")
	cmd.Flags().StringVar(&f.pkg, "package", starterPackage, "`NAME` of the package of the tools, and of its folder")
}

// refuseEmpty refuses flags that are given without a value.
func (f *initFlags) refuseEmpty(cmd *cobra.Command) error {
	for _, flag := range []struct{ name, value, hint string }{
		{"local", f.local, "it takes the folder that holds the go.mod of a checkout of " + module},
		{"module", f.module, "it takes the path of a Go module, such as github.com/you/notes"},
		{"model", f.model, "it takes anthropic, openai or genai"},
		{"package", f.pkg, "it takes the name of a Go package, such as " + starterPackage},
	} {
		if flag.value == "" && cmd.Flags().Changed(flag.name) {
			return cmdutil.Usage("--"+flag.name+" is empty", flag.hint)
		}
	}
	return nil
}

// badInPath tells characters that the go command does not take in the path of a module.
func badInPath(r rune) bool {
	return unicode.IsControl(r) || r == '\\' && filepath.Separator != '\\'
}

// create writes the application into a folder inside its own, and moves it up
// when everything is in place. What it made is removed if it cannot.
func (a *application) create() (err error) {
	var made placed
	defer func() {
		if err != nil {
			made.remove()
		}
		if _, ok := errors.AsType[*fs.PathError](err); ok { // of a file with a name that only init knows
			err = cannotWrite(a.dir, err)
		}
	}()
	if err := made.folder(a.dir); err != nil {
		return err
	}
	if a.kept, err = keep(a.dir); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(a.dir, stagePrefix)
	if err != nil {
		return err
	}
	err = a.write(stage)
	if err == nil {
		err = made.move(stage, a.dir, a.kept)
	}
	if gone := os.RemoveAll(stage); err == nil {
		err = gone
	}
	return err
}

func (a *application) write(stage string) error {
	if err := a.render(stage); err != nil {
		return err
	}
	d, err := project.Load(filepath.Join(stage, a.Package, project.DeclarationName))
	if err != nil {
		return err
	}
	if _, err := generate(d, false); err != nil {
		return err
	}
	if a.Replace != "" {
		tidy(stage)
	}
	return nil
}

// tidy lets the go command put go.mod and go.sum in order, with the modules that
// are at hand. Without them the files stay as they are: the application builds
// with them too.
func tidy(dir string) {
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	cmd.Run() //nolint:errcheck // see above
}
