package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/internal/replan"
	"github.com/ambit-tools/ambit/internal/running"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A callView is a call as it is shown.
type callView struct {
	Session   string               `json:"session"`
	Run       string               `json:"run"`
	Call      string               `json:"call"`
	Provider  string               `json:"provider_call_id,omitempty"` // the id that the provider of the model gave it
	Agent     string               `json:"agent,omitempty"`
	Principal string               `json:"principal,omitempty"`
	Tool      string               `json:"tool"`
	Version   string               `json:"tool_version,omitempty"`
	State     string               `json:"state"`
	Request   string               `json:"request,omitempty"`
	Args      json.RawMessage      `json:"args,omitempty"`       // sensitive values are commitments
	Final     json.RawMessage      `json:"final_args,omitempty"` // with which the handler was run, when they differ
	Output    json.RawMessage      `json:"output,omitempty"`
	Artifact  *runtime.ArtifactRef `json:"artifact,omitempty"`
	Outcome   *store.Outcome       `json:"outcome,omitempty"`
	Error     string               `json:"error,omitempty"` // for operators: no model is told it
	Stack     string               `json:"stack,omitempty"` // of a panic
	Grant     string               `json:"grant,omitempty"` // by which the call was started
	Began     string               `json:"began,omitempty"`
	Duration  float64              `json:"duration_ms,omitempty"`
	Attempts  int                  `json:"attempts,omitempty"` // how often its handler, or its command, was started
	Ended     bool                 `json:"ended"`
	Processes []journal.Process    `json:"processes,omitempty"` // that it ran
	Running   []running.Beat       `json:"running,omitempty"`   // what those of them that run use
	Command   *commandView         `json:"command,omitempty"`   // nil: its tool has a handler
	Events    []callEvent          `json:"events"`
}

// A callEvent is one entry of a call.
type callEvent struct {
	Seq   uint64 `json:"seq"`
	At    string `json:"at"`
	Event string `json:"event"`
	By    string `json:"by,omitempty"`
}

func newCallsShow() *cobra.Command {
	var (
		v    store.Options
		id   store.CallID
		decl declaration
	)
	cmd := &cobra.Command{
		Use:   "show (CALL | --call ID) --store FILE [--session ID]",
		Short: "Show one call: its arguments, its outcome and what happened to it",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			typed, err := id.Typed(cmd, args)
			if err != nil {
				return err
			}
			if err := decl.load(); err != nil {
				return err
			}
			return v.With(func(r *sqlite.Reader) error {
				row, err := store.FindCall(cmd.Context(), r, id.Session, typed)
				if err != nil {
					return err
				}
				view, err := viewOf(cmd.Context(), r, row.CallKey, &decl)
				if err == nil {
					err = view.findGrant(cmd.Context(), r)
				}
				if err != nil {
					return err
				}
				if err := view.findBeats(v.Path, time.Now()); err != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: what the processes of the call use is not shown: %s\n", terminal.Escape(err.Error()))
					fmt.Fprintln(cmd.ErrOrStderr(), "hint: the owner of the store writes that file anew every second: where no process owns the store, remove it")
				}
				if v.AsJSON {
					return cmdutil.PrintJSON(cmd.OutOrStdout(), view)
				}
				view.print(cmd.OutOrStdout())
				return nil
			})
		},
	}
	v.AddFlags(cmd)
	id.AddFlags(cmd)
	decl.addFlag(cmd)
	return cmd
}

// viewOf returns a call as its entries tell of it.
func viewOf(ctx context.Context, r *sqlite.Reader, key journal.CallKey, decl *declaration) (*callView, error) {
	list, err := r.Call(ctx, key)
	if err != nil {
		return nil, err
	}
	v, ran := &callView{Session: key.Session, Call: key.Call}, &replan.Call{}
	for i := range list {
		rec, err := store.Decode(&list[i])
		if err != nil {
			return nil, err
		}
		if rec.Mark == journal.MarkOpened { // the last call of the id (SEMANTICS 1.4.10, 6.14.10)
			v, ran = &callView{Session: key.Session, Call: key.Call}, &replan.Call{}
		}
		v.add(list[i].Seq, rec)
		ran.Add(&list[i], rec)
	}
	v.Command = decl.ofCall(ran)
	return v, nil
}

// findGrant adds the grant by which the call was started, if there was one. It reads
// the entries of the session between the first and the last of the call: the entry that says so may be
// that of another call. What is before the first one may be archived (SEMANTICS 6.14.9).
func (v *callView) findGrant(ctx context.Context, r *sqlite.Reader) error {
	if len(v.Events) == 0 {
		return nil
	}
	first, last := v.Events[0].Seq, v.Events[len(v.Events)-1].Seq
	return r.Back(ctx, v.Session, last+1, func(e *journal.Entry) bool {
		for _, c := range journal.RequestChanges(e) {
			if c.What == journal.GrantUsed && c.Call == v.Call {
				v.Grant = c.ID
			}
		}
		return v.Grant == "" && e.Seq > first
	})
}

// findBeats adds what the owner of the store tells of the processes that run (SEMANTICS 6.13.4). The call can be shown
// without it.
func (v *callView) findBeats(path string, now time.Time) error {
	if !slices.ContainsFunc(v.Processes, func(p journal.Process) bool { return p.Exit == nil }) {
		return nil
	}
	told, err := running.Read(path+running.Suffix, now)
	for i := range v.Processes {
		if b := running.Of(told, v.Processes[i].ID); b != nil && v.Processes[i].Exit == nil {
			v.Running = append(v.Running, *b)
		}
	}
	return err
}

// add adds what a record says.
func (v *callView) add(seq uint64, r *journal.Record) {
	v.Events = append(v.Events, callEvent{seq, cmdutil.Instant(r.At), r.Kind, r.By})
	v.Processes = journal.JoinProcess(v.Processes, r)
	last := func(to *string, value string) {
		if value != "" {
			*to = value
		}
	}
	last(&v.Run, r.Run)
	last(&v.Provider, r.Metadata[runtime.ProviderCallID])
	last(&v.Agent, r.Agent)
	last(&v.Principal, r.Principal)
	last(&v.Tool, r.Tool)
	last(&v.Version, r.ToolVersion)
	last(&v.State, r.To)
	last(&v.Request, r.Request)
	last(&v.Error, r.Err)
	last(&v.Stack, r.Stack)
	if r.Mark == journal.MarkOpened {
		v.Began = cmdutil.Instant(r.At)
	}
	for to, p := range map[*json.RawMessage]*journal.Payload{&v.Args: r.Args, &v.Final: r.Final, &v.Output: r.Output} {
		if p != nil {
			*to = p.Value
		}
	}
	if r.Artifact != nil {
		v.Artifact = r.Artifact
	}
	if out := store.OutcomeOf(r); out != nil {
		v.Outcome = out
		if r.Duration > 0 {
			v.Duration = float64(r.Duration) / float64(time.Millisecond)
		}
	}
	v.Ended = v.Ended || r.Mark == journal.MarkEnded
	v.Attempts = max(v.Attempts, r.Attempt)
	if r.Kind == runtime.EventRetrying.String() { // no entry says that the next one has started
		v.Attempts = r.Attempt + 1
	}
}

// print prints the call for people.
func (v *callView) print(w io.Writer) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, terminal.Escape(value))
		}
	}
	line("call", v.Call)
	line("model's id", v.Provider)
	line("tool", strings.TrimSpace(v.Tool+" "+v.Version))
	line("session", v.Session)
	line("run", v.Run)
	line("agent", v.Agent)
	line("principal", v.Principal)
	line("state", v.State)
	line("request", v.Request)
	line("args", string(v.Args))
	line("ran with", string(v.Final))
	line("output", string(v.Output))
	if a := v.Artifact; a != nil {
		line("artifact", fmt.Sprintf("%s, %s, %d bytes", a.SHA256, a.Type, a.Bytes))
	}
	if out := v.Outcome; out != nil {
		line("outcome", out.Words())
		line("message", out.Message)
	}
	line("error", v.Error)
	line("grant", v.Grant)
	line("began", v.Began)
	if v.Duration > 0 {
		line("took", shortDuration(time.Duration(v.Duration*float64(time.Millisecond))))
	}
	if v.Attempts > 0 {
		line("attempts", strconv.Itoa(v.Attempts))
	}
	verb := "would run"
	if len(v.Processes) > 0 {
		verb = "ran"
	}
	v.Command.print(w, verb)
	for i := range v.Processes {
		printProcess(w, &v.Processes[i], running.Of(v.Running, v.Processes[i].ID))
	}
	fmt.Fprintln(w)
	for _, e := range v.Events {
		fmt.Fprintf(w, "%6d  %s  %s\n", e.Seq, e.At, strings.Join(cmdutil.NonEmpty(terminal.Escape(e.Event), cmdutil.Named("by", e.By)), "  "))
	}
}
