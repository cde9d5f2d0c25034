package scripttest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

type command = func(ts *testscript.TestScript, neg bool, args []string)

// A verb is a command with its usage, which says how many arguments it takes.
type verb struct {
	usage    string
	min, max int
	negated  bool // ! is allowed
	do       func(s *script, ts *testscript.TestScript, neg bool, args []string)
}

func commands() map[string]command {
	verbs := map[string]verb{
		"call":    {"call ID TOOL [ARGS]", 2, 3, false, (*script).call},
		"batch":   {"batch parallel|sequential FILE", 2, 2, false, (*script).batch},
		"outcome": {"outcome ID KIND [REASON]", 2, 3, true, (*script).outcome},
		"approve": {"approve ID BY [groups=G] [grant=G] [for=D] [cover=C] [where=P] [edit=ARGS]", 2, 10, true, (*script).approve},
		"deny":    {"deny ID BY [groups=G] [MESSAGE]", 2, 4, true, (*script).deny},
		"advance": {"advance DURATION", 1, 1, false, (*script).advance},
		"now":     {"now INSTANT", 1, 1, false, (*script).now},
		"stop":    {"stop [STATE]", 0, 1, false, (*script).stop},
		"twice":   {"twice TOOL [ARGS]", 1, 2, true, (*script).twice},
		"undo":    {"undo ID", 1, 1, true, (*script).undo},
	}
	cmds := make(map[string]command, len(verbs))
	for name, v := range verbs {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) < v.min || len(args) > v.max || neg && !v.negated {
				ts.Fatalf("usage: %s", v.usage)
			}
			v.do(ts.Value(key{}).(*script), ts, neg, args)
		}
	}
	return cmds
}

func (s *script) call(ts *testscript.TestScript, _ bool, args []string) {
	in := runtime.Call{ID: args[0], Tool: args[1], Input: []byte("{}")}
	if len(args) == 3 {
		in.Input = input(ts, args[2])
	}
	var out runtime.Outcome
	s.perform(ts, func() { out = s.run.Turn(engine.TurnConfig{}).Execute(context.Background(), in) })
	s.print(ts, &out)
}

// input reads JSON, or @FILE.
func input(ts *testscript.TestScript, arg string) []byte {
	if name, ok := strings.CutPrefix(arg, "@"); ok {
		return []byte(ts.ReadFile(name))
	}
	return []byte(arg)
}

// print writes the result of a call.
func (s *script) print(ts *testscript.TestScript, out *runtime.Outcome) {
	if out.RequestID != "" {
		s.requests[out.CallID] = out.RequestID
	}
	w := ts.Stdout()
	fmt.Fprintf(w, "%s %s", out.CallID, out.Kind)
	switch {
	case out.Artifact != nil && out.Kind == runtime.Completed:
		fmt.Fprintf(w, " artifact of %d bytes, %s: %s", out.Artifact.Bytes, out.Artifact.Type, out.Artifact.Preview)
	case out.Kind == runtime.Completed:
		fmt.Fprintf(w, " %s", out.Output)
	case out.Kind == runtime.Duplicate:
		fmt.Fprintf(w, " of %s", out.Of)
	default:
		fmt.Fprintf(w, " %s: %s", out.Reason, out.Message)
	}
	fmt.Fprintln(w)
}

func (s *script) batch(ts *testscript.TestScript, _ bool, args []string) {
	mode, ok := map[string]engine.BatchMode{"parallel": engine.Parallel, "sequential": engine.Sequential}[args[0]]
	if !ok {
		ts.Fatalf("batch: %q is neither parallel nor sequential", args[0])
	}
	var calls []runtime.Call
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		switch {
		case words[0] == "":
			continue
		case len(words) < 2:
			ts.Fatalf("batch: %q is not ID TOOL [ARGS]", line)
		case len(words) == 2:
			words = append(words, "{}")
		}
		calls = append(calls, runtime.Call{ID: words[0], Tool: words[1], Input: input(ts, words[2])})
	}
	var all []runtime.Outcome
	s.perform(ts, func() { all = s.run.Turn(engine.TurnConfig{}).ExecuteBatch(context.Background(), calls, mode) })
	for i := range all {
		s.print(ts, &all[i])
	}
}

func (s *script) outcome(ts *testscript.TestScript, neg bool, args []string) {
	now, cancel := context.WithCancel(context.Background())
	cancel() // the present outcome: the command waits for nothing
	var out runtime.Outcome
	s.perform(ts, func() { out = s.session.Await(now, args[0]) })
	var kind runtime.OutcomeKind
	ts.Check(kind.UnmarshalText([]byte(args[1])))
	same := out.Kind == kind
	if len(args) == 3 {
		var reason runtime.Reason
		ts.Check(reason.UnmarshalText([]byte(args[2])))
		same = same && out.Reason == reason
	}
	if same == neg {
		ts.Fatalf("call %q is %s", args[0], strings.TrimSpace(fmt.Sprintf("%s %s: %s", out.Kind, out.Reason, out.Message)))
	}
}

func (s *script) deny(ts *testscript.TestScript, neg bool, args []string) {
	a := action.Answer{By: runtime.ProgramActor(args[1])}
	rest := args[2:]
	if len(rest) > 0 && groups(&a.By, rest[0]) {
		rest = rest[1:]
	}
	if len(rest) > 1 {
		ts.Fatalf("usage: deny ID BY [groups=G] [MESSAGE]")
	}
	a.Message = strings.Join(rest, "")
	s.decide(ts, neg, args[0], a)
}

func (s *script) approve(ts *testscript.TestScript, neg bool, args []string) {
	a := action.Answer{By: runtime.ProgramActor(args[1]), Approve: true}
	for _, arg := range args[2:] {
		if groups(&a.By, arg) {
			continue
		}
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "grant":
			err = a.Grant.UnmarshalText([]byte(value))
		case "for":
			a.For, err = time.ParseDuration(value)
		case "cover":
			err = a.Cover.UnmarshalText([]byte(value))
		case "edit":
			a.Edit = input(ts, value)
		case "where":
			var p consent.Predicate
			if p, err = consent.ParsePredicate(value); err == nil {
				a.CoverArgs = append(a.CoverArgs, p)
			}
		default:
			ts.Fatalf("approve: %q is not groups=, grant=, for=, cover=, where= or edit=", arg)
		}
		ts.Check(err)
	}
	s.decide(ts, neg, args[0], a)
}

// groups reads groups=NAME,NAME, the groups of an approver. It is false for another argument.
func groups(by *runtime.Actor, arg string) bool {
	names, ok := strings.CutPrefix(arg, "groups=")
	if ok {
		by.Groups = strings.Split(names, ",")
	}
	return ok
}

// decide answers the request of a call.
func (s *script) decide(ts *testscript.TestScript, neg bool, call string, a action.Answer) {
	ts.Check(runtime.CheckApprover(a.By.ID)) // the executor rejects what a group answers
	for _, name := range a.By.Groups {
		ts.Check(runtime.CheckGroup(name))
	}
	id := s.requests[call]
	if q, ok := s.exec.Request(id); ok {
		a.Binding = q.Binding // the approver has looked
	}
	var res action.Resolution
	s.perform(ts, func() { res = s.exec.Decide(context.Background(), id, a) })
	said := strings.TrimSpace(res.Kind.String() + " " + res.Reason.String())
	if res.Detail != "" {
		said += ": " + res.Detail
	}
	fmt.Fprintln(ts.Stdout(), said)
	if res.Outcome != nil {
		s.print(ts, res.Outcome)
	}
	if (res.Kind == runtime.ResolutionRejected) != neg {
		ts.Fatalf("the answer of %q was %s", a.By.ID, said)
	}
}

func (s *script) advance(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	if d < 0 {
		ts.Fatalf("advance: time does not run backward")
	}
	ts.Check(s.clock.Advance(d))
}

// now lets time pass until an instant.
func (s *script) now(ts *testscript.TestScript, _ bool, args []string) {
	at, err := time.Parse(time.RFC3339, args[0])
	if err != nil {
		ts.Fatalf("now: %q is not an instant: write it as RFC 3339 does, such as 2026-03-01T09:30:00Z", args[0])
	}
	if year := at.UTC().Year(); year > 2200 {
		ts.Fatalf("now: %q is after the year 2200", args[0])
	}
	d := at.Sub(s.clock.Now())
	if d < 0 {
		ts.Fatalf("now: %s is before %s: time does not run backward; set App.Now", args[0], s.clock.Now().Format(time.RFC3339))
	}
	ts.Check(s.clock.Advance(d))
}

func (s *script) stop(ts *testscript.TestScript, _ bool, args []string) {
	var st engine.RunStatus
	s.perform(ts, func() { st = s.run.ModelStopped(context.Background()) })
	list(ts.Stdout(), st.State.String(), st.PendingExit)
	if len(args) == 1 && st.State.String() != args[0] {
		ts.Fatalf("the run is %s", st.State)
	}
}

func list(w io.Writer, first string, rest []string) {
	fmt.Fprintln(w, strings.Join(append([]string{first}, rest...), " "))
}

func (s *script) undo(ts *testscript.TestScript, neg bool, args []string) {
	var err error
	s.perform(ts, func() {
		_, err = s.session.Undo(context.Background(), action.UndoRequest{CallID: args[0], By: runtime.ProgramActor("script")})
	})
	result, why := action.ResultOf(err)
	text := strings.TrimSpace(result + " " + string(why))
	fmt.Fprintln(ts.Stdout(), text)
	if (err != nil) != neg {
		ts.Fatalf("undo of call %q: %s", args[0], text)
	}
}
