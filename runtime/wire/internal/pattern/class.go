package pattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// An atom is a character, or a set in the form in which a class has it.
type atom struct {
	char rune
	set  string
}

// String returns the atom as it is written in a class.
func (a atom) String() string {
	if a.set != "" {
		return a.set
	}
	return literalRune(a.char)
}

// class rewrites [...]. Every character is written so that it means itself to
// RE2, which knows [[:alpha:]] where ECMA-262 does not.
func (e *ecma) class() error {
	begin := e.here("class")
	e.i++
	open := "["
	if strings.HasPrefix(e.rest(), "^") {
		e.i++
		open = "[^"
	}
	if strings.HasPrefix(e.rest(), "]") {
		e.i++
		if open == "[" {
			return errors.New(begin + " is empty and matches nothing")
		}
		e.out.WriteString("[" + anyRune + "]")
		return nil
	}
	e.out.WriteString(open)
	for {
		if e.rest() == "" {
			return errors.New(begin + " is not closed")
		}
		if e.rest()[0] == ']' {
			e.i++
			e.out.WriteString("]")
			return nil
		}
		if err := e.classRange(); err != nil {
			return err
		}
	}
}

// classRange rewrites one character, set or range of a class.
func (e *ecma) classRange() error {
	begin := e.here("range")
	low, err := e.classAtom()
	if err != nil {
		return err
	}
	rest := e.rest()
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		e.out.WriteString(low.String())
		return nil
	}
	hyphen := e.i
	e.i++
	if low.set != "" {
		return e.hyphen(begin, low, hyphen)
	}
	fixes := len(e.fixes)
	high, err := e.classAtom()
	switch {
	case err != nil:
		return err
	case high.set != "":
		e.fixes = e.fixes[:fixes]
		e.i = hyphen + 1
		return e.hyphen(begin, low, hyphen)
	case high.char < low.char:
		return errors.New(begin + " is out of order")
	default:
		e.out.WriteString(low.String() + "-" + high.String())
	}
	return nil
}

// hyphen takes a hyphen beside a set for itself, or refuses it; the cursor is behind it. What comes next reads it again.
func (e *ecma) hyphen(begin string, low atom, at int) error {
	e.out.WriteString(low.String())
	err := e.misspelt(at, `\-`, begin+` has a set of characters as its end: write \- for the hyphen`)
	e.i = at
	return err
}

func (e *ecma) classAtom() (atom, error) {
	if e.rest()[0] != '\\' {
		return atom{char: e.next()}, nil
	}
	if strings.HasPrefix(e.rest(), `\b`) {
		e.i += 2
		return atom{char: '\b'}, nil
	}
	return e.atomEscape(syntaxCharacters + "-")
}

// syntaxCharacters are what a backslash makes a character of, as ECMA-262 has it with the flag u.
const syntaxCharacters = `^$\.*+?()[]{}|/`

// atomEscape reads an escape. characters are what it may make a character of.
func (e *ecma) atomEscape(characters string) (atom, error) {
	begin, from := e.here("escape"), e.i
	e.i++
	if e.rest() == "" {
		return atom{}, errors.New(begin + " has no character")
	}
	c := e.next()
	switch c {
	case 'd', 'D', 'w', 'W':
		return atom{set: `\` + string(c)}, nil
	case 's':
		return atom{set: space}, nil
	case 'S':
		return atom{set: notSpace}, nil
	case 'p', 'P':
		return e.property(c)
	case 't':
		return atom{char: '\t'}, nil
	case 'n':
		return atom{char: '\n'}, nil
	case 'v':
		return atom{char: '\v'}, nil
	case 'f':
		return atom{char: '\f'}, nil
	case 'r':
		return atom{char: '\r'}, nil
	case '0':
		r := e.rest()
		if r == "" || r[0]-'0' > 9 {
			return atom{}, nil
		}
		n := 0 // digits of an octal number
		for n < 2 && n < len(r) && r[n]-'0' < 8 {
			n++
		}
		v, _ := strconv.ParseUint("0"+r[:n], 8, 8)
		e.i += n
		return atom{char: rune(v)}, e.misspelt(from, fmt.Sprintf(`\x%02x`, v), begin+fmt.Sprintf(` is none of ECMA-262: \0 before a digit: write \x%02x`, v))
	case 'c':
		if r := e.rest(); r != "" && r[0]|0x20 >= 'a' && r[0]|0x20 <= 'z' {
			return atom{char: e.next() & 31}, nil
		}
	case 'x':
		if v, ok := e.hex(2); ok {
			return atom{char: v}, nil
		}
	case 'u':
		return e.unicodeEscape(begin)
	}
	if c >= 0x80 || c < ' ' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
		return atom{}, errors.New(begin + ` is none of ECMA-262: \` + string(c))
	}
	if strings.ContainsRune(characters, c) {
		return atom{char: c}, nil
	}
	return atom{char: c}, e.misspelt(from, string(c), begin+` is none of ECMA-262: \`+string(c))
}

// hex reads n hexadecimal digits.
func (e *ecma) hex(n int) (rune, bool) {
	if len(e.rest()) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(e.rest()[:n], 16, 32)
	if err != nil {
		return 0, false
	}
	e.i += n
	return rune(v), true
}

// unicodeEscape reads what follows \u: XXXX, twice for a surrogate pair, or {X...}.
func (e *ecma) unicodeEscape(begin string) (atom, error) {
	if strings.HasPrefix(e.rest(), "{") {
		end := strings.IndexByte(e.rest(), '}')
		if end < 2 {
			return atom{}, errors.New(begin + ` is not \u{X...}`)
		}
		v, err := strconv.ParseUint(e.rest()[1:end], 16, 32)
		if err != nil || v > unicode.MaxRune || utf16.IsSurrogate(rune(v)) {
			return atom{}, errors.New(begin + " is no Unicode character")
		}
		e.i += end + 1
		return atom{char: rune(v)}, nil
	}
	v, ok := e.hex(4)
	if !ok {
		return atom{}, errors.New(begin + ` is not \uXXXX`)
	}
	if !utf16.IsSurrogate(v) {
		return atom{char: v}, nil
	}
	if strings.HasPrefix(e.rest(), `\u`) {
		e.i += 2
		if low, ok := e.hex(4); ok {
			if c := utf16.DecodeRune(v, low); c != unicode.ReplacementChar {
				return atom{char: c}, nil
			}
		}
	}
	return atom{}, errors.New(begin + " is half of a surrogate pair")
}

// property reads what follows \p or \P.
func (e *ecma) property(c rune) (atom, error) {
	begin := e.here("property")
	end := strings.IndexByte(e.rest(), '}')
	if !strings.HasPrefix(e.rest(), "{") || end < 0 {
		return atom{}, errors.New(begin + ` is not closed: write \p{Letter}`)
	}
	name := e.rest()[1:end]
	e.i += end + 1
	key, value, ok := strings.Cut(name, "=")
	if !ok {
		key, value = "gc", name
	}
	switch key {
	case "gc", "General_Category":
		if short, ok := unicode.CategoryAliases[value]; ok {
			value = short
		}
		if _, ok := unicode.Categories[value]; ok {
			return atom{set: `\` + string(c) + `{` + value + `}`}, nil
		}
	case "sc", "Script":
		if _, ok := unicode.Scripts[value]; ok {
			return atom{set: `\` + string(c) + `{` + value + `}`}, nil
		}
	}
	if ranges, found := binary(name); found {
		return atom{set: classOf(ranges, c == 'P')}, nil
	}
	return atom{}, errors.New(begin + ` is not supported: \` + string(c) + "{" + name + `}; general categories, Script=Name and properties such as White_Space and Emoji are`)
}
