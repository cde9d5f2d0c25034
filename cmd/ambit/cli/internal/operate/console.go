package operate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// NewConsole returns "ambit console".
func NewConsole() *cobra.Command {
	return cmdutil.NewGroup("console", "Reach the pages of a running application in a browser", newConsoleOpen())
}

func newConsoleOpen() *cobra.Command {
	var (
		v    commandVerb
		path string
	)
	cmd := &cobra.Command{
		Use:   "open --store FILE",
		Short: "Print a URL that signs a browser of this machine in, once",
		Long: `Open prints a URL of the application that runs on the store. It signs one browser on this
machine in, within five minutes, as you: the application says under which id, and what that id
may do.`,
		Example: `  ambit console open --store var/ambit.db
  ambit console open --store var/ambit.db --path /approvals/4DJ5XUQ2`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !strings.HasPrefix(path, "/") {
				return cmdutil.Usage("--path: "+cmdutil.Quote(path)+" is no path of the application", "for example --path /approvals/4DJ5XUQ2")
			}
			return v.With(func(r *sqlite.Reader) error {
				if served, err := inbox.Served(r); err != nil || !served {
					if err == nil {
						err = cmdutil.Problem("no application runs on this store", "start it: it serves the pages")
					}
					return err
				}
				v.ticket = rand.Text() + rand.Text()
				sum := sha256.Sum256([]byte(v.ticket))
				v.Kind, v.Login = inbox.CommandConsoleOpen, &inbox.Login{SHA256: hex.EncodeToString(sum[:]), Path: path}
				return v.send(cmd, r, nil)
			})
		},
	}
	v.Options.AddFlags(cmd)
	cmd.Flags().DurationVar(&v.wait, "wait", 5*time.Second, "how `long` to wait for the application's answer")
	cmd.Flags().StringVar(&path, "path", "/", "`path` of the page that the browser comes to")
	return cmd
}

// loginURL is where a browser signs in; nothing when the command was not for that.
func (v *commandVerb) loginURL(res *inbox.CommandResult) string {
	if v.ticket == "" || res == nil || res.URL == "" {
		return ""
	}
	return res.URL + "?ticket=" + v.ticket
}
