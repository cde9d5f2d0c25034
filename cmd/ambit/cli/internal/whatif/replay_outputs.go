package whatif

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// outputs compares the recorded outputs of deterministic tools.
func (r *rerun) outputs(cmd *cobra.Command) error {
	if len(r.policies) > 0 {
		return cmdutil.Usage("--deterministic judges nothing, and --policies names what judges", "leave out one of the two")
	}
	if r.each {
		return cmdutil.Usage("--deterministic judges nothing, and --each says how calls are judged", "leave out one of the two")
	}
	if err := r.named(); err != nil {
		return err
	}
	file, err := project.Parse(r.declaration)
	if err != nil {
		return err
	}
	source, err := r.source(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return cmdutil.Problem(cmp.Or(r.store, r.journal)+": "+err.Error(), "")
	}
	defer source.Close()
	all, err := replay.CompareOutputs(cmd.Context(), source, file, r.since)
	if err != nil {
		return err
	}
	if err := r.printOutputs(cmd, all.Only(r.session, r.run)); err != nil {
		return err
	}
	if len(all.Only(r.session, r.run).Differing) > 0 {
		return cmdutil.Answered(cmdutil.ExitVerdict)
	}
	return nil
}

// printOutputs writes names and counts: an output may hold what not everybody may read.
func (r *rerun) printOutputs(cmd *cobra.Command, o *replay.Outputs) error {
	w := cmd.OutOrStdout()
	if r.asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(o)
	}
	for _, d := range o.Differing {
		fmt.Fprintf(w, "DIFFERS %s %s %s %s: another output than call %s of session %s, of the same input\n",
			word(d.Session), word(d.Run), word(d.Call), word(d.Tool), word(d.EarlierCall), word(d.EarlierSession))
	}
	_, err := fmt.Fprintf(w, "%s of deterministic tools, %d compared, %d with another output\n", cmdutil.Count(o.Calls, "call"), o.Compared, len(o.Differing))
	return err
}
