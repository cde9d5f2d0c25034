package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

const deterministic = `ambit: v1
package: shop
tools:
  price: {version: 1.0.0, renamed_from: [cost], description: Price., effect: read, deterministic: true, input: {type: object}, output: {type: object}}
  change: {version: 1.0.0, description: Change., effect: write, input: {type: object}, output: {type: object}}
`

// lines is an export: each word is "CALL.KIND", with further members of the record.
func lines(t *testing.T, records ...string) *replay.Lines {
	t.Helper()
	marks := map[string]string{"invoked": `"mark":1,`, "started": `"mark":2,"attempt":1,`, "completed": `"mark":3,`, "timed_out": `"mark":3,`}
	var b strings.Builder
	for i, r := range records {
		head, rest, _ := strings.Cut(r, " ")
		id, kind, _ := strings.Cut(head, ".")
		if id == "" {
			fmt.Fprintf(&b, `{"seq":%d,"record":{"event":%q,"at":"2000-01-01T00:00:00Z"}}`+"\n", i+1, kind)
			continue
		}
		tool := map[byte]string{'c': "price", 'o': "cost", 'w': "change", 'x': "unheard_of"}[id[0]]
		if rest != "" {
			rest = "," + rest
		}
		fmt.Fprintf(&b, `{"seq":%d,"record":{"event":"tool.%s","at":"2000-01-01T00:00:00Z",%s"session":"s","run":"r","call":%q,"tool":%q%s}}`+"\n", i+1, kind, marks[kind], id, tool, rest)
	}
	l, err := replay.ReadLines(strings.NewReader(b.String()))
	require.NoError(t, err, b.String())
	return l
}

// begins and ends are the records of a call.
func begins(id, args string, extra ...string) []string {
	return []string{id + ".invoked " + strings.Join(extra, ","), id + `.validated "args":{"bytes":1,"value":` + args + `}`, id + ".started"}
}

func ends(id, output string) []string {
	return []string{id + `.completed "output":{"bytes":1,"value":` + output + `},"outcome":{"outcome":"completed"}`}
}

func whole(id, args, output string, extra ...string) []string {
	return append(begins(id, args, extra...), ends(id, output)...)
}

// TestCompareOutputs: an output is compared where nothing that is recorded has changed the state.
func TestCompareOutputs(t *testing.T) {
	one, other := whole("c1", `{"a":1}`, `{"x":1}`), whole("c2", `{"a":1}`, `{"x":2}`)
	for name, c := range map[string]struct {
		between  [][]string
		compared bool
	}{
		"nothing":                    {nil, true},
		"another read":               {[][]string{whole("c3", `{"a":2}`, `{"x":5}`)}, true},
		"a write":                    {[][]string{whole("w1", `{}`, `{}`)}, false},
		"a tool that is unknown":     {[][]string{whole("x1", `{}`, `{}`)}, false},
		"a write that runs":          {[][]string{begins("w1", `{}`)}, false},
		"a write that has timed out": {[][]string{begins("w1", `{}`), {`w1.timed_out "outcome":{"outcome":"timed_out"}`}}, false},
		"a call that is not begun":   {[][]string{{"w1.invoked", `w1.validated "args":{"bytes":2,"value":{}}`}}, true},
		"an undo":                    {[][]string{{"w0.undone"}}, false},
		"another process":            {[][]string{{".owner.changed"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := compared(t, one, append(c.between, other)...)
			assert.Equal(t, c.compared, got.Compared == 1, "%+v", got)
			if c.compared {
				require.Len(t, got.Differing, 1)
				assert.Equal(t, replay.Differing{Session: "s", Run: "r", Call: "c2", Tool: "price", EarlierSession: "s", EarlierCall: "c1"}, got.Differing[0])
			}
		})
	}
	for name, c := range map[string]struct {
		second              []string
		compared, differing int
	}{
		"equal":                         {whole("c2", `{"a":1}`, `{"x":1}`), 1, 0},
		"by an earlier name":            {whole("o2", `{"a":1}`, `{"x":2}`), 1, 1},
		"other arguments":               {whole("c2", `{"a":2}`, `{"x":2}`), 0, 0},
		"another principal":             {whole("c2", `{"a":1}`, `{"x":2}`, `"principal":"bob"`), 0, 0},
		"another declaration":           {whole("c2", `{"a":1}`, `{"x":2}`, `"pin":"p"`), 0, 0},
		"it has failed":                 {append(begins("c2", `{"a":1}`), `c2.completed "outcome":{"outcome":"failed"}`), 0, 0},
		"secrets that are not exported": {append(begins("c2", `{"a":1}`), `c2.completed "output":{"bytes":1,"value":{"x":2},"secrets":1},"outcome":{"outcome":"completed"}`), 0, 0},
		"an artifact":                   {append(begins("c2", `{"a":1}`), `c2.completed "output":{"bytes":1,"value":{"x":1}},"artifact":{"sha256":"00","type":"a/b","bytes":1},"outcome":{"outcome":"completed"}`), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := compared(t, one, c.second)
			assert.Equal(t, []int{c.compared, c.differing}, []int{got.Compared, len(got.Differing)}, "%+v", got)
			assert.Empty(t, got.Only("another", "").Differing)
		})
	}
	long := append(append(begins("w1", `{}`), one...), other...)
	assert.Zero(t, compared(t, long).Compared, "a write runs all the time")
	_, err := replay.CompareOutputs(context.Background(), lines(t), nil, time.Time{})
	assert.Error(t, err)
}

func compared(t *testing.T, first []string, rest ...[]string) *replay.Outputs {
	t.Helper()
	all := append([]string(nil), first...)
	for _, r := range rest {
		all = append(all, r...)
	}
	got, err := replay.CompareOutputs(t.Context(), lines(t, all...), parse(t, deterministic), time.Time{})
	require.NoError(t, err)
	return got
}
