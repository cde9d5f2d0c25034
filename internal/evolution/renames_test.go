package evolution_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution"
)

// TestNamesOfRecordedCalls: what is recorded under a name stays that of its tool, or a break says that it does not.
//
// SEMANTICS 1.5.3, 1.5.4
func TestNamesOfRecordedCalls(t *testing.T) {
	file := func(tools string) *dsl.File {
		var b strings.Builder
		b.WriteString("ambit: v1\npackage: shop\ntools:\n")
		for line := range strings.Lines(strings.TrimSpace(tools) + "\n") {
			name, keys, _ := strings.Cut(strings.TrimSpace(line), ": ")
			fmt.Fprintf(&b, "  %s: {%s, description: D., input: {type: object, properties: {k: {type: string, description: K.}}}, output: {}}\n", name, keys)
		}
		f, err := dsl.Parse("tools.yaml", []byte(b.String()))
		require.NoError(t, err, b.String())
		return f
	}
	const keyed = ", idempotency: {key: [k], window: 24h}"
	const lost = "callers: the first name was %q and is %q: keys are made of it, so that an effect of an earlier call may be made again\n"
	const gone = "callers: the earlier name %q names no tool any more\n"
	taken := func(name, of, by string) string {
		text := fmt.Sprintf("%q was a name of tool %q and is one of %q: calls that are recorded under it count for the other tool now\n", name, of, by)
		return "callers: " + text + "undo: " + text + "journals: " + text
	}
	for _, c := range []struct {
		name, was, now, want string
		hint                 string // of the first break
	}{
		{name: "a further name", was: `mail: version: 1.0.0, renamed_from: [send]` + keyed, now: `mail: version: 1.1.0, renamed_from: [send, post]` + keyed},
		{name: "a second rename", was: `mail: version: 1.0.0, renamed_from: [send]` + keyed, now: `post: version: 2.0.0, renamed_from: [send, mail]` + keyed,
			want: "policies: tool \"mail\" is now \"post\"\nhandlers: tool \"mail\" is now \"post\"\n"},
		{name: "the first name is removed", was: `mail: version: 1.2.0, renamed_from: [send]` + keyed, now: `mail: version: 1.3.0` + keyed,
			want: fmt.Sprintf(gone, "send") + fmt.Sprintf(lost, "send", "mail"), hint: "raise version to 2.0.0, or take the change back"},
		{name: "and nothing is made of it", was: `mail: version: 1.2.0, renamed_from: [send]`, now: `mail: version: 1.3.0`, want: fmt.Sprintf(gone, "send")},
		{name: "a later name is removed", was: `post: version: 1.2.0, renamed_from: [send, mail]` + keyed, now: `post: version: 1.3.0, renamed_from: [send]` + keyed, want: fmt.Sprintf(gone, "mail")},
		{name: "another first name", was: `post: version: 1.2.0, renamed_from: [send, mail], dedupe: 5m`, now: `post: version: 1.3.0, renamed_from: [mail, send], dedupe: 5m`,
			want: fmt.Sprintf(lost, "send", "mail"), hint: `begin renamed_from with "send", or raise version to 2.0.0`},
		{name: "a name before the first", was: `post: version: 0.2.0` + keyed, now: `post: version: 0.2.1, renamed_from: [mail]` + keyed,
			want: fmt.Sprintf(lost, "post", "mail"), hint: `begin renamed_from with "post", or raise version to 0.3.0`},
		{name: "another tool takes a freed name", was: `mail: version: 1.2.0, renamed_from: [send]`, now: "mail: version: 1.2.0\nsend: version: 1.0.0",
			want: taken("send", "mail", "send"), hint: `choose another name for the other tool, or raise the version of "mail" to 2.0.0`},
		{name: "as a former name", was: "mail: version: 1.2.0, renamed_from: [send]\npost: version: 1.0.0", now: "mail: version: 1.2.0\npost: version: 1.0.0, renamed_from: [send]",
			want: taken("send", "mail", "post")},
		{name: "as its alias", was: "mail: version: 1.2.0, renamed_from: [send]\npost: version: 1.0.0", now: "mail: version: 1.2.0\npost: version: 1.0.0, alias: send",
			want: taken("send", "mail", "post")},
		{name: "the present name", was: "send: version: 1.2.0", now: "mail: version: 2.0.0, renamed_from: [send]\nsent: version: 1.0.0",
			want: "policies: tool \"send\" is now \"mail\"\nhandlers: tool \"send\" is now \"mail\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			breaks := evolution.Compare(file(c.was), file(c.now))
			var text strings.Builder
			for _, b := range breaks {
				for _, whom := range b.For {
					what := b.Text
					if strings.Contains(what, "have another name") {
						what, _, _ = strings.Cut(what, ":")
					}
					fmt.Fprintf(&text, "%s: %s\n", whom, what)
				}
			}
			assert.Equal(t, c.want, text.String())
			if c.hint != "" {
				assert.Equal(t, c.hint, breaks[0].Hint)
			}
		})
	}

	merged := evolution.Compare(file("mail: version: 1.2.0\nsend: version: 1.2.0"), file("mail: version: 1.3.0, renamed_from: [mail_old, send]"))
	require.NotEmpty(t, merged)
	last := merged[len(merged)-1]
	assert.Equal(t, `tool "send" is removed, and is a name of tool "mail": calls that are recorded under it count for that tool now`, last.Text)
	assert.Equal(t, `choose another name, or raise the version of "mail" to 2.0.0`, last.Hint)
	assert.False(t, last.Allowed)
}
