package pattern

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Translate translates a regular expression of ECMA-262 (with the u flag, as JSON
// Schema has it) into one of Go, or into spans where these say it all. Its look-around
// is apart: each of looks stands where re2 has its group. Back references are errors:
// nothing matches them in linear time.
func Translate(src string) (re2 string, looks []Look, spans []Span, err error) {
	if !utf8.ValidString(src) {
		return "", nil, nil, fmt.Errorf("pattern %q is not UTF-8", src)
	}
	e := newECMA(src)
	if err := e.rewrite(); err != nil {
		return "", nil, nil, fmt.Errorf("pattern %q: %w", src, err)
	}
	re2 = e.out.String()
	if err := valid(re2, e.looks); err != nil {
		return "", nil, nil, fmt.Errorf("pattern %q: %w", src, plainly(err))
	}
	if e.looks != nil {
		return re2, e.looks, nil, nil
	}
	if spans := lower(re2); spans != nil {
		return "", nil, spans, nil
	}
	return re2, nil, nil, nil
}

// valid reports what is wrong with an expression or its look-around.
func valid(re2 string, looks []Look) error {
	if _, err := regexp.Compile(re2); err != nil {
		return err
	}
	for _, l := range looks {
		if err := valid(l.RE2, l.Looks); err != nil {
			return err
		}
	}
	return nil
}

// plainly says what is wrong without the rewritten expression around it.
func plainly(err error) error {
	var s *syntax.Error
	if !errors.As(err, &s) {
		return err
	}
	if s.Code == syntax.ErrInvalidRepeatSize {
		return fmt.Errorf("%s repeats more than 1000 times: use maxLength for the length", s.Expr)
	}
	return fmt.Errorf("%s: %q", s.Code, s.Expr)
}

// Respell writes what ECMA-262 takes without the flag u alone as it is written with it, such as \- as - and a brace as \}.
// ok is false where that would not make the expression one that Translate takes.
func Respell(src string) (out string, ok bool) {
	e := newECMA(src)
	e.lax = true
	if !utf8.ValidString(src) || e.rewrite() != nil {
		return "", false
	}
	slices.SortStableFunc(e.fixes, func(a, b fix) int { return a.from - b.from })
	var b strings.Builder
	done := 0
	for _, f := range e.fixes {
		b.WriteString(src[done:f.from] + f.write)
		done = f.to
	}
	b.WriteString(src[done:])
	if _, _, _, err := Translate(b.String()); err != nil {
		return "", false
	}
	return b.String(), true
}

// maxLooks bounds the look-arounds of an expression: each is matched at every position.
const maxLooks = 100

// An ecma rewrites an expression from left to right.
type ecma struct {
	src   string
	i     int
	out   strings.Builder
	looks []Look
	depth int             // groups that are open
	inner bool            // it is what is in a look-around, and ends with it
	left  int             // how many more look-arounds it may have
	names map[string]bool // of groups, also in what is around
	// bare says that an assertion stands before the cursor, which ECMA-262 does not repeat.
	bare bool
	// lax takes what ECMA-262 takes without the flag u alone, and notes in fixes how it is written with it.
	lax   bool
	fixes []fix
}

// A fix writes a part of an expression in another way.
type fix struct {
	from, to int
	write    string
}

func newECMA(src string) *ecma { return &ecma{src: src, left: maxLooks, names: map[string]bool{}} }

// misspelt notes how the part from a position to the cursor is written with the flag u, or refuses it.
func (e *ecma) misspelt(from int, write, fault string) error {
	if !e.lax {
		return errors.New(fault)
	}
	e.fixes = append(e.fixes, fix{from, e.i, write})
	return nil
}

const (
	anyRune  = `\x{0}-\x{10FFFF}`
	space    = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	notSpace = `\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
)

// here names a construct at the cursor in an error.
func (e *ecma) here(what string) string {
	return fmt.Sprintf("%s at character %d", what, utf8.RuneCountInString(e.src[:e.i])+1)
}

// next takes the next character.
func (e *ecma) next() rune {
	c, n := utf8.DecodeRuneInString(e.src[e.i:])
	e.i += n
	return c
}

func (e *ecma) rest() string { return e.src[e.i:] }

func (e *ecma) rewrite() error {
	for e.i < len(e.src) {
		var err error
		bare := e.bare
		if e.bare = false; bare && e.repeats() {
			return errors.New(e.here("repetition operator") + " repeats an assertion: leave it out")
		}
		switch c := e.src[e.i]; c {
		case ')':
			if e.depth == 0 && e.inner {
				return nil
			}
			e.depth--
			e.i++
			e.out.WriteByte(c)
		case '\\':
			err = e.escape()
		case '[':
			err = e.class()
		case '(':
			err = e.group()
		case '{':
			err = e.repeat()
		case '.':
			e.i++
			e.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		case '*', '+', '?', '|', '^', '$':
			e.bare = c == '^' || c == '$'
			e.i++
			e.out.WriteByte(c)
		case '}', ']':
			fault := e.here(string(c)) + " closes nothing: write \\" + string(c) + " for the character"
			e.i++
			err = e.misspelt(e.i-1, `\`+string(c), fault)
			e.out.WriteString(literalRune(rune(c)))
		default:
			e.out.WriteString(literalRune(e.next()))
		}
		if err != nil {
			return err
		}
	}
	if e.inner {
		return errors.New("missing closing ): write ) behind the look-around")
	}
	return nil
}

// literalRune returns an expression for one character, in a class or outside.
func literalRune(c rune) string {
	switch {
	case c == '-' || c == '&' || c == '~':
		return `\x{` + strconv.FormatInt(int64(c), 16) + `}`
	case c < ' ' || c == 0x7F || c >= 0x80 && !strconv.IsPrint(c):
		return fmt.Sprintf(`\x{%X}`, c)
	}
	return regexp.QuoteMeta(string(c))
}

var lookaround = []struct {
	prefix      string
	behind, not bool
}{{"(?=", false, false}, {"(?!", false, true}, {"(?<=", true, false}, {"(?<!", true, true}}

// look rewrites a look-around: an empty group stands in its place, the only one with a capture.
func (e *ecma) look(prefix string, behind, not bool) error {
	if e.left == 0 {
		return fmt.Errorf("the pattern has more than %d look-arounds", maxLooks)
	}
	begin := e.i
	in := ecma{src: e.src, i: e.i + len(prefix), inner: true, left: e.left - 1, names: e.names, lax: e.lax, fixes: e.fixes}
	err := in.rewrite()
	e.left, e.fixes = in.left, in.fixes
	if err != nil {
		return err
	}
	e.i = in.i + 1
	if e.repeats() {
		if behind || !e.lax {
			return errors.New(e.here("repetition operator") + " repeats a look-around: leave it out")
		}
		e.fixes = append(e.fixes, fix{begin, begin, "(?:"}, fix{e.i, e.i, ")"})
	}
	e.looks = append(e.looks, Look{RE2: in.out.String(), Looks: in.looks, Behind: behind, Not: not})
	e.out.WriteString("()")
	return nil
}

var groupName = regexp.MustCompile(`^[\pL\p{Nl}$_][\pL\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$\x{200C}\x{200D}]*$`)

// group rewrites the beginning of a group: nothing needs its capture.
func (e *ecma) group() error {
	for _, l := range lookaround {
		if strings.HasPrefix(e.rest(), l.prefix) {
			return e.look(l.prefix, l.behind, l.not)
		}
	}
	e.depth++
	skip := 1
	switch rest := e.rest(); {
	case strings.HasPrefix(rest, "(?:"):
		skip = len("(?:")
	case strings.HasPrefix(rest, "(?<"):
		if skip = strings.IndexByte(rest, '>') + 1; skip <= len("(?<>") {
			return errors.New(e.here("group name") + " is missing: write (?<name>...)")
		}
		name := rest[len("(?<") : skip-1]
		switch {
		case !groupName.MatchString(name):
			return errors.New(e.here("group name") + " is no name: write letters, digits, _ and $, no digit first")
		case e.names[name]:
			return errors.New(e.here("group name") + " is that of another group: rename one of them")
		}
		e.names[name] = true
	case strings.HasPrefix(rest, "(?"):
		return errors.New(e.here("group modifier") + " is not supported: only (...), (?:...) and (?<name>...) are")
	}
	e.i += skip
	e.out.WriteString("(?:")
	return nil
}

// counts reads {n}, {n,} or {n,m} at the cursor, and {,m}, which ECMA-262 has not.
func (e *ecma) counts() (low, high string, comma, ok bool) {
	end := strings.IndexByte(e.rest(), '}')
	if end < 1 || e.rest()[0] != '{' {
		return "", "", false, false
	}
	low, high, comma = strings.Cut(e.rest()[1:end], ",")
	return low, high, comma, (low != "" || comma) && strings.Trim(low+high, "0123456789") == ""
}

// repeats reports whether a repetition operator stands at the cursor.
func (e *ecma) repeats() bool {
	if e.rest() == "" || strings.IndexByte("*+?{", e.rest()[0]) < 0 {
		return false
	}
	low, _, _, ok := e.counts()
	return e.rest()[0] != '{' || ok && low != ""
}

// repeat copies {n}, {n,} or {n,m}.
func (e *ecma) repeat() error {
	low, high, comma, ok := e.counts()
	fault := e.here("brace") + ` begins no {n}, {n,} or {n,m}: write \{ for the character`
	switch {
	case ok && low == "": // others than ECMA-262 read it as at most m
		return errors.New(fault)
	case !ok:
		e.i++
		e.out.WriteString(literalRune('{'))
		return e.misspelt(e.i-1, `\{`, fault)
	}
	fewest, err := strconv.Atoi(low)
	if most, wrong := strconv.Atoi(high); err == nil && wrong == nil && most < fewest {
		return errors.New(e.here("brace") + " has the larger bound first: write the smaller one first")
	}
	e.out.WriteString("{" + bound(low))
	if comma {
		e.out.WriteString("," + bound(high))
	}
	e.out.WriteString("}")
	e.i += strings.IndexByte(e.rest(), '}') + 1
	return nil
}

// bound returns a bound of a repetition without the leading zeros that RE2 does not read.
func bound(digits string) string {
	if digits == "" {
		return ""
	}
	return cmp.Or(strings.TrimLeft(digits, "0"), "0")
}

// escape rewrites an escape sequence outside of a class.
func (e *ecma) escape() error {
	if len(e.rest()) > 1 {
		switch c := e.rest()[1]; {
		case c == 'b' || c == 'B':
			e.bare = true
			e.out.WriteString(e.rest()[:2])
			e.i += 2
			return nil
		case c-'1' < 9 || c == 'k':
			return errors.New(e.here(`back reference \`+string(c)) + " is not supported: patterns are matched in linear time")
		}
	}
	a, err := e.atomEscape(syntaxCharacters)
	if err != nil {
		return err
	}
	if a.set != "" {
		e.out.WriteString("[" + a.set + "]")
	} else {
		e.out.WriteString(literalRune(a.char))
	}
	return nil
}
