package terminal_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const args = `{"path":"docs/a.md","content":"one\ntwo\n","mode":3,"meta":{"owner":"o","tags":["x"],"none":{}}}`

const shown = `
file_write wants to run for "agent"
  writes; cannot be undone
  asked by declared: Write "docs/a.md"
  with
    path          "docs/a.md"
    content       | one
                  | two
    mode          3
    meta.owner    "o"
    meta.tags[0]  "x"
    meta.none     {}
  it would do this
  | --- a
  | +++ b
  | @@ -1 +1 @@
  | -zero
  | +one
  asked at 12:00:00 UTC, expires 5m later; 1 more approval is wanted
  y  once: this call and no other
  e  again: and equal calls, for a while or for the session
  a  alike: and calls whose arguments are alike
  t  any: and every call of file_write
  n  no
choice> y
  This will be recorded: "alice" approves this call, once.
Accepted.
`

const diff = "--- a\n+++ b\n@@ -1 +1 @@\n-zero\n+one\n"

func TestWholeDialogue(t *testing.T) {
	r := request(args)
	r.Preview = &consent.Preview{Text: diff}
	a, said := converse(t, r, "y")
	assert.Equal(t, &action.Answer{By: runtime.ProgramActor("alice"), Approve: true}, a)
	assert.Equal(t, shown, said)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  action.Answer
		says  string
	}{
		"no":                   {[]string{"n", "not on a Sunday"}, action.Answer{Message: "not on a Sunday"}, ""},
		"no, without a reason": {[]string{"NO", ""}, action.Answer{}, ""},
		"again": {[]string{"e", "15m", "yes"}, action.Answer{Approve: true, Grant: consent.ForDuration, For: 15 * time.Minute},
			`This will be stored: "alice" allows calls of file_write with exactly these arguments by "agent" for 15m. It answers what declared asks; it lifts no refusal and no limit.`},
		"any": {[]string{"t", "session", "y"}, action.Answer{Approve: true, Grant: consent.ForSession, Cover: runtime.CoverTool},
			`"alice" allows every call of file_write, whatever its arguments, by "agent" until the session ends.`},
		"alike": {[]string{"a", "path^=docs/ mode", "2h", "y"}, action.Answer{
			Approve: true, Grant: consent.ForDuration, For: 2 * time.Hour, Cover: runtime.CoverArgs, CoverArgs: []consent.Predicate{
				{Member: "path", Op: consent.OpPrefix, Value: json.RawMessage(`"docs/"`)},
				{Member: "mode", Op: consent.OpEqual, Value: json.RawMessage(`3`)},
			}}, `calls of file_write in which path begins with "docs/" and mode is 3 by "agent" for 2h.`},
		"an empty line is no answer":          {[]string{"", "  ", "x", "y"}, action.Answer{Approve: true}, "Type one of the letters."},
		"what is not confirmed is not stored": {[]string{"t", "session", "", "n", ""}, action.Answer{}, "store this (yes or no)"},
		"no duration":                         {[]string{"e", "-5m", "e", "soon", "y"}, action.Answer{Approve: true}, "Write a duration such as 15m, or session."},
		"no such argument":                    {[]string{"a", "pth", "y"}, action.Answer{Approve: true}, `there is no argument "pth" that a grant may name`},
		"no text":                             {[]string{"a", "mode^=3", "y"}, action.Answer{Approve: true}, `"mode" is no text`},
		"another text":                        {[]string{"a", "path^=/etc", "y"}, action.Answer{Approve: true}, `"path" of this call does not fit: path begins with "/etc"`},
		"below": {[]string{"a", `path below "docs" mode le 5 content`, "session", "y"}, action.Answer{
			Approve: true, Grant: consent.ForSession, Cover: runtime.CoverArgs, CoverArgs: []consent.Predicate{
				{Member: "path", Op: consent.OpBelow, Value: json.RawMessage(`"docs"`)},
				{Member: "mode", Op: consent.OpAtMost, Value: json.RawMessage(`5`)},
				{Member: "content", Op: consent.OpEqual, Value: json.RawMessage(`"one\ntwo\n"`)},
			}}, `in which path is below the folder "docs" and mode is at most 5 and content is "one\ntwo\n" by "agent"`},
		"not below":       {[]string{"a", `path below "src"`, "y"}, action.Answer{Approve: true}, `"path" of this call does not fit: path is below the folder "src"`},
		"no folder":       {[]string{"a", `path below "docs/.."`, "y"}, action.Answer{Approve: true}, `the value for "path" is no folder`},
		"prefix of a URL": {[]string{"a", "path^=https://docs", "y"}, action.Answer{Approve: true}, `compare by url`},

		"nothing alike": {[]string{"a", "", "y"}, action.Answer{Approve: true}, `name at least one argument`},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.By = runtime.ProgramActor("alice")
			got, said := converse(t, request(args), test.lines...)
			require.NotNil(t, got, said)
			assert.Equal(t, test.want, *got)
			assert.Contains(t, said, test.says)
		})
	}
}

// TestMemberOfAGroupAtATerminal: the person answers with the groups that the program gives it.
// SEMANTICS 5.5.3
func TestMemberOfAGroupAtATerminal(t *testing.T) {
	r := request(args)
	r.Requirement.Approvers = []string{"group:leads"}
	p := newPerson("y")
	a, err := terminal.New("otto", p, p, terminal.WithGroups("sales", "leads"))
	require.NoError(t, err)
	assert.NoError(t, a.Notify(t.Context(), r))
	d := newDesk()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	answer := <-d.answers
	assert.Equal(t, runtime.Actor{ID: "otto", Groups: []string{"sales", "leads"}, Method: runtime.MethodCode}, answer.By)
	stop()
	<-served
	p.in.Close() // the reader of the lines ends

	other, err := terminal.New("otto", newPerson(), newPerson(), terminal.WithGroups("sales"))
	require.NoError(t, err)
	assert.ErrorContains(t, other.Notify(t.Context(), r), `"otto" is none of the approvers of "file_write", who are ["group:leads"]`)
	for _, wrong := range [][]string{{"otto "}, {"group:leads"}, {"groups:leads"}, {"otto", "group:leads"}, {"otto", ""}} {
		_, err := terminal.New(wrong[0], newPerson(), newPerson(), terminal.WithGroups(wrong[1:]...))
		assert.Error(t, err, wrong)
	}
}

func TestOnlyDeclaredCoversAreOffered(t *testing.T) {
	r := request(args)
	r.Covers = []runtime.GrantCover{runtime.CoverExact}
	got, said := converse(t, r, "a", "t", "n", "")
	assert.Equal(t, &action.Answer{By: runtime.ProgramActor("alice")}, got)
	assert.NotContains(t, said, "a  alike")
	assert.NotContains(t, said, "t  any")
	assert.Equal(t, 2, strings.Count(said, "Type one of the letters."))
}

func TestMaskedMembersCannotBeNamed(t *testing.T) {
	r := request(`{"path":"a","key":"(sensitive)","deep":{"key":"(sensitive)"}}`)
	r.Masked = []string{"/key", "/deep/key"}
	r.Shown = json.RawMessage(`{"path":"a","key":"revealed","deep":{"key":"(sensitive)"}}`)
	_, said := converse(t, r, "a", "key", "y")
	assert.Contains(t, said, "stay as it is, of path;")
	assert.Contains(t, said, `there is no argument "key"`)
	assert.Contains(t, said, `"revealed"`, "the declaration reveals it to approvers")

	r.Masked = []string{""}
	_, said = converse(t, r, "a", "y")
	assert.Contains(t, said, "There is no argument that a grant may name.")
}

func TestEverythingIsShownOnRequest(t *testing.T) {
	r := request(`{"content":"` + strings.Repeat("x", 3000) + `THE MIDDLE` + strings.Repeat("y", 3000) + `"}`)
	r.Preview = &consent.Preview{Text: strings.Repeat("line\n", 100) + "the last line\n"}
	_, said := converse(t, r, "y")
	assert.NotContains(t, said, "THE MIDDLE")
	assert.NotContains(t, said, "the last line")
	assert.Contains(t, said, "characters are not shown")
	assert.Contains(t, said, "41 lines are not shown")
	_, said = converse(t, r, "v", "y")
	assert.Contains(t, said, "THE MIDDLE")
	assert.Contains(t, said, "| the last line")
	assert.Equal(t, 1, strings.Count(said, "v  show everything"))
}

func TestEndOfInputAnswersNothing(t *testing.T) {
	for _, lines := range [][]string{{}, {"e"}, {"n"}, {"t", "session"}} {
		a, _ := converse(t, request(args), lines...)
		assert.Nil(t, a, lines)
	}
}

func TestOnlyWhoMayAnswerIsAsked(t *testing.T) {
	a, err := terminal.New("alice", newPerson(), newPerson())
	require.NoError(t, err)
	r := request(args)
	r.Requirement.Approvers = []string{"bob", "carol"}
	assert.EqualError(t, a.Notify(t.Context(), r), `"alice" is none of the approvers of "file_write", who are ["bob" "carol"]`)
	r = request(args)
	r.Principal = "alice"
	assert.EqualError(t, a.Notify(t.Context(), r), `"alice" acts in this session and may not approve its calls`)
	r.Requirement.AllowSelf = true
	assert.NoError(t, a.Notify(t.Context(), r))
	_, err = terminal.New("", newPerson(), newPerson())
	assert.Error(t, err)
}

func TestFileThatIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	_, err = terminal.New("alice", r, newPerson())
	assert.ErrorIs(t, err, terminal.ErrNoTerminal)
	_, err = terminal.New("alice", newPerson(), w)
	assert.ErrorIs(t, err, terminal.ErrNoTerminal)
}

func TestRequestThatEndsWhileItIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPerson(), newDesk()
		p.lines = nil
		hold, ctx := newQuiet(), t.Context()
		a, err := terminal.New("alice", hold, listening(p))
		require.NoError(t, err)
		gone, end := context.WithCancel(ctx)
		require.NoError(t, a.Notify(gone, request(args)))
		serve, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- a.Serve(serve, d) }()
		synctest.Wait()
		require.Contains(t, p.heard(), "choice")
		end()
		synctest.Wait()
		require.Contains(t, p.heard(), "This request has ended")
		stop()
		require.NoError(t, <-served)
		assert.Empty(t, d.answers)
		assert.ErrorIs(t, a.Notify(ctx, request(args)), terminal.ErrEnded)
		hold.Close()
	})
}

// TestTypedAheadAnswersNothing types yes before anything is asked.
func TestTypedAheadAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := newPerson(), newPerson()
		d := newDesk()
		a, err := terminal.New("alice", in, listening(typed))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- a.Serve(ctx, d) }()
		_, err = in.in.Write([]byte("y\ny\n"))
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, a.Notify(ctx, request(args)))
		synctest.Wait()
		require.Contains(t, typed.heard(), "choice")
		assert.Empty(t, d.answers)
		stop()
		require.NoError(t, <-served)
		in.in.Close()
	})
}

func TestResolutionsAreTold(t *testing.T) {
	for want, res := range map[string]action.Resolution{
		"Not taken: expired.":                    {Kind: runtime.ResolutionRejected, Reason: consent.RequestExpired},
		"Recorded. 2 more approvals are wanted.": {Kind: runtime.ResolutionRecorded, Missing: 2},
		"Accepted. file_write: completed.":       {Kind: runtime.ResolutionAccepted, Outcome: &runtime.Outcome{Kind: runtime.Completed}},
		"Accepted. file_write: denied, cooldown": {Kind: runtime.ResolutionAccepted, Outcome: &runtime.Outcome{Kind: runtime.Denied, Reason: runtime.ReasonCooldown}},
	} {
		synctest.Test(t, func(t *testing.T) { tells(t, res, want) })
	}
}

// tells wants a person who says yes to be told what became of it.
func tells(t *testing.T, res action.Resolution, want string) {
	p, d := newPerson("y"), newDesk()
	d.res = res
	a, err := terminal.New("alice", p, p)
	require.NoError(t, err)
	require.NoError(t, a.Notify(t.Context(), request(args)))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	synctest.Wait()
	require.Contains(t, p.heard(), want)
	stop()
	p.in.Close()
	require.NoError(t, ignoreEnd(<-served))
}

// TestEditedRequestIsShownAgain: an answer names what its approver was shown. When another approver has
// edited that, the request is asked again, as it is now.
// SEMANTICS 5.2.9
func TestEditedRequestIsShownAgain(t *testing.T) {
	d := &editedDesk{desk: newDesk(), now: request(`{"path":"b"}`)}
	d.now.Binding = consent.Digest{2}
	d.res = action.Resolution{Reason: consent.TermsChanged}
	shown := make(chan string, 2)
	a := terminal.Func(func(_ context.Context, r *consent.Notice) (action.Answer, bool) {
		shown <- string(r.Args)
		return action.Answer{By: runtime.ProgramActor("code"), Approve: len(shown) == 1}, len(shown) < 3
	})
	first := request(`{"path":"a"}`)
	first.Binding = consent.Digest{1}
	require.NoError(t, a.Notify(t.Context(), first))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	assert.Equal(t, action.Answer{By: runtime.ProgramActor("code"), Approve: true, Binding: consent.Digest{1}}, <-d.answers)
	assert.Equal(t, action.Answer{By: runtime.ProgramActor("code"), Binding: consent.Digest{2}}, <-d.answers)
	assert.Equal(t, []string{`{"path":"a"}`, `{"path":"b"}`}, []string{<-shown, <-shown})
	stop()
	require.NoError(t, <-served)
}

// TestRewrittenEditIsShown: the approver that edited a request is asked about what the policy made of the edit. The same edit
// once more changes nothing, and the approver is not asked for ever.
func TestRewrittenEditIsShown(t *testing.T) {
	d := &rewritingDesk{desk: newDesk(), now: request(`{"cents":100}`)}
	d.now.Binding = consent.Digest{2}
	asked := make(chan string, 4)
	a := terminal.Func(func(_ context.Context, r *consent.Notice) (action.Answer, bool) {
		asked <- string(r.Args)
		return action.Answer{By: runtime.ProgramActor("code"), Approve: true, Edit: []byte(`{"cents":500}`)}, true
	})
	first := request(`{"cents":50}`)
	first.Binding = consent.Digest{1}
	require.NoError(t, a.Notify(t.Context(), first))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	assert.Equal(t, consent.Digest{1}, (<-d.answers).Binding)
	assert.Equal(t, consent.Digest{2}, (<-d.answers).Binding)
	stop()
	require.NoError(t, <-served)
	assert.Len(t, asked, 2)
	assert.Equal(t, []string{`{"cents":50}`, `{"cents":100}`}, []string{<-asked, <-asked})
	assert.Empty(t, d.answers)
}

// A rewritingDesk has a policy that rewrites every edit to the same terms.
type rewritingDesk struct {
	*desk
	now *consent.Notice
}

func (d *rewritingDesk) Decide(ctx context.Context, id string, a action.Answer) action.Resolution {
	d.desk.Decide(ctx, id, a)
	return action.Resolution{Kind: runtime.ResolutionRecorded, Missing: 1, Rewritten: true}
}

func (d *rewritingDesk) Request(id string) (*consent.Notice, bool) {
	return d.now, id == d.now.ID
}

// An editedDesk rejects the first answer, because the request has been edited.
type editedDesk struct {
	*desk
	now *consent.Notice
}

func (d *editedDesk) Decide(ctx context.Context, id string, a action.Answer) action.Resolution {
	res := d.desk.Decide(ctx, id, a)
	d.res = action.Resolution{Kind: runtime.ResolutionAccepted}
	return res
}

func (d *editedDesk) Request(id string) (*consent.Notice, bool) { return d.now, id == d.now.ID }

func TestFunc(t *testing.T) {
	d := newDesk()
	a := terminal.Func(func(_ context.Context, r *consent.Notice) (action.Answer, bool) {
		return action.Answer{By: runtime.ProgramActor("code"), Approve: r.Tool == "file_write"}, r.CallID != "c2"
	})
	left := request(args)
	left.CallID = "c2"
	require.NoError(t, a.Notify(t.Context(), left))
	require.NoError(t, a.Notify(t.Context(), request(args)))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	assert.Equal(t, action.Answer{By: runtime.ProgramActor("code"), Approve: true}, <-d.answers)
	stop()
	require.NoError(t, <-served)
	assert.Empty(t, d.answers)
}

// TestCommand: what a command would run is shown with each argument in quotes, and the script of a shell
// line by line.
func TestCommand(t *testing.T) {
	r := request(`{"ref":"a b"}`)
	r.Command = &runtime.Invocation{Program: "git", Argv: []string{"git", "log", "a b", "\x1b[1m\u202e"}, Network: runtime.NetworkLoopback}
	_, said := converse(t, r, "y")
	assert.Contains(t, said, "it would run\n    runs       \"git\" \"log\" \"a b\" \"\\u001b[1m\\u{202E}\"\n    isolation  sandbox, network loopback\n")
	r = request(`{}`)
	r.Command = &runtime.Invocation{Program: "sh", Argv: []string{"sh", "-c", "--", "ls\nid"}, Script: "ls\nid", Dir: "sub", Tier: runtime.TierProcess}
	_, said = converse(t, r, "y")
	assert.Contains(t, said, "    script     | ls\n               | id  (no line break at the end)\n    by         \"sh\"\n    in         \"sub\"\n    isolation  process, network none\n")
	r = request(`{}`)
	r.Command = &runtime.Invocation{Program: "sh", Argv: []string{"say", strings.Repeat("x", 5000)}}
	_, said = converse(t, r, "y")
	assert.Contains(t, said, "characters are not shown ...")
}
