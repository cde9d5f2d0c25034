package terminal_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

// hostile texts try to hide, to move the cursor or to pass themselves off as
// something else.
var hostile = map[string]string{
	"\x1b[2J\x1b[H":             `\u{1B}[2J\u{1B}[H`,
	"\x1b]0;title\x07":          `\u{1B}]0;title\u{7}`,
	"\u009b31m":                 `\u{9B}31m`,
	"a\rb\bc\x7f":               `a\u{D}b\u{8}c\u{7F}`,
	"evil\u202etxt.exe":         `evil\u{202E}txt.exe`,
	"\u2066a\u2069":             `\u{2066}a\u{2069}`,
	"pass\u200bword\ufeff":      `pass\u{200B}word\u{FEFF}`,
	"a\u2028b\u2029c\u0085":     `a\u{2028}b\u{2029}c\u{85}`,
	"a\u00a0b\u3000c":           `a\u{A0}b\u{3000}c`,
	"soft\u00adhyphen":          `soft\u{AD}hyphen`,
	"\u3164\u115f\u2800":        `\u{3164}\u{115F}\u{2800}`,
	"\ufe0f\U000e0041":          `\u{FE0F}\u{E0041}`,
	"\xff\xc0\x80":              `\x{FF}\x{C0}\x{80}`,
	`C:\users\x{1}`:             `C:\users\u{5C}x{1}`,
	`\u{202E}`:                  `\u{5C}u{202E}`,
	"größe 東京 é ✓":              "größe 東京 é ✓",
	"e\u0301\u0323\u0301\u0302": "e\u0301\u0323\u0301\\u{302}",
	"\u0301e":                   `\u{301}e`,
	`plain \n text`:             `plain \n text`,
}

func TestEscape(t *testing.T) {
	for text, want := range hostile {
		assert.Equal(t, want, terminal.Escape(text), "%q", text)
	}
}

// TestNothingHostileReachesTheTerminal puts each text wherever text can stand.
// SEMANTICS 7.5.5
func TestNothingHostileReachesTheTerminal(t *testing.T) {
	for text := range hostile {
		r := request(`{"plain":` + jsonText(text) + `,` + jsonText(text) + `:{` + jsonText(text) + `:1},"lines":` + jsonText(text+"\n"+text) + `}`)
		r.Tool, r.Principal, r.Agent, r.Description, r.EditedBy = text+"x", text, text+"x", text, text+"x"
		r.Reasons = []consent.Reason{{Code: text, Message: text, At: text}, {Code: "x", Message: "{plain}{lines}"}}
		r.Preview = &consent.Preview{Text: diff + text + "\n+" + text}
		r.Votes = []consent.Vote{{By: text}}
		_, said := converse(t, r, "a", "plain", "session", "y")
		for _, c := range said {
			require.True(t, c == '\n' || unicode.IsGraphic(c) && !unicode.Is(unicode.Cf, c) && (c == ' ' || !unicode.Is(unicode.Z, c)), "%q lets %U through", text, c)
		}
		require.True(t, utf8.ValidString(said))
		require.NotContains(t, said, "no JSON")
	}
}

func jsonText(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestDiffIsColoured(t *testing.T) {
	p, d := newPerson("y"), newDesk()
	a, err := terminal.New("alice", p, p, terminal.WithColour(true))
	require.NoError(t, err)
	r := request(`{}`)
	r.Preview = &consent.Preview{MediaType: "text/x-diff", Text: diff + "+\x1b[0mx\n"}
	require.NoError(t, a.Notify(t.Context(), r))
	served := make(chan error, 1)
	go func() { served <- a.Serve(t.Context(), d) }()
	assert.Equal(t, action.Answer{By: runtime.ProgramActor("alice"), Approve: true}, <-d.answers)
	p.in.Close()
	require.Error(t, <-served)
	for _, want := range []string{"| \x1b[31m-zero\x1b[0m\n", "| \x1b[32m+one\x1b[0m\n", "| \x1b[36m@@ -1 +1 @@\x1b[0m\n", "\x1b[32m+\\u{1B}[0mx\x1b[0m"} {
		assert.Contains(t, p.heard(), want)
	}
	assert.Contains(t, p.heard(), "without arguments")
}

var escaped = regexp.MustCompile(`\\([ux])\{([0-9A-F]+)\}`)

// unescape undoes Escape.
func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(match string) string {
		part := escaped.FindStringSubmatch(match)
		n, _ := strconv.ParseUint(part[2], 16, 32)
		if part[1] == "x" {
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
}

// SEMANTICS 7.5.5
func FuzzEscape(f *testing.F) {
	for text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		safe := terminal.Escape(text)
		require.Equal(t, text, unescape(safe), "nothing is lost, and nothing looks like something else")
		for _, c := range safe {
			require.True(t, c == ' ' || unicode.IsGraphic(c) && !unicode.IsSpace(c) && !unicode.IsControl(c), "%U", c)
		}
	})
}

// TestMessageIsEscapedOnce: a value in a message is escaped once, and on one line.
func TestMessageIsEscapedOnce(t *testing.T) {
	for value, want := range map[string]string{
		`"ada"`:                          `Mail "ada"?`,
		`"bob\u001b[2J"`:                 `Mail "bob\u001b[2J"?`,
		`"bob\nerror: all is lost"`:      `Mail "bob\nerror: all is lost"?`,
		`"\u202egnp.exe"`:                `Mail "\u{202E}gnp.exe"?`,
		`"bob\u001b[2J\nerror: is lost"`: `Mail "bob\u001b[2J\nerror: is lost"?`,
		`12.50`:                          `Mail 12.50?`,
		`[]`:                             `Mail []?`,
	} {
		assert.Equal(t, want, terminal.Escape(terminal.Fill("Mail {to}?", []byte(`{"to":`+value+`}`))))
	}
	long := terminal.Fill("Mail {to}?", []byte(`{"to":"`+strings.Repeat("a", 4000)+`"}`))
	assert.Contains(t, long, `a"... 2000 characters are not shown ..."a`)
}
