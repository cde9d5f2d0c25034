package whatif

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// The years in which a clock may stand: what is before and after them does not fit
// the nanoseconds that rules count, or not the history that an explanation assumes.
const firstYear, lastYear = 1970, 2200

// nowFlag adds --now to a command.
func nowFlag(cmd *cobra.Command, dst *string, usage string) {
	cmd.Flags().StringVar(dst, "now", "", usage)
}

// parseInstant reads the value of --now; zero when it is empty.
func parseInstant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	const example = "write an instant as RFC 3339 does, such as 2026-03-01T09:30:00Z or 2026-03-01T10:30:00+01:00"
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, cmdutil.Usage("--now: "+cmdutil.Quote(text)+" is not an instant", example)
	}
	if year := at.UTC().Year(); year < firstYear || year > lastYear {
		return time.Time{}, cmdutil.Usage("--now: "+cmdutil.Quote(text)+" is not between the years 1970 and 2200", example)
	}
	return at, nil
}
