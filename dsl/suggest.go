package dsl

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quote shows a text of the file in a message: escaped, and cut when it is long.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 64 {
		s = string([]rune(s)[:63]) + "…"
	}
	return strconv.Quote(s)
}

// oneOf lists names as a person would: "a", "b" or "c".
func oneOf(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// closest returns the name that s most likely means, or "".
func closest(s string, names []string) string {
	best, bestDistance := "", max(1, min(utf8.RuneCountInString(s), 12)/3)+1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(s), strings.ToLower(name)); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance with swapped neighbors counted as one step.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > 4 || d < -4 || len(x) > 64 {
		return 64
	}
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// maxGuesses is how many suggestions one run looks for: more faults than that
// have one cause, and looking is slow where there are many names.
const maxGuesses = 200

func (p *parser) closest(s string, names []string) string {
	if p.guesses++; p.guesses > maxGuesses {
		return ""
	}
	return closest(s, names)
}

// guess is didYouMean for the keys of a map, which may be many.
func guess[V any](p *parser, s string, names map[string]V) string {
	if p.guesses >= maxGuesses {
		return noGuess
	}
	return p.didYouMean(s, sortedKeys(names))
}

// noGuess is the hint for a name that is like none of many, or of none at all.
const noGuess = "correct the name, or remove it"

// didYouMean is the hint for a name that is not one of names.
func (p *parser) didYouMean(s string, names []string) string {
	if name := p.closest(s, names); name != "" {
		return "did you mean " + quote(name) + "?"
	}
	if len(names) == 0 || len(names) > 24 {
		return noGuess
	}
	return "use " + oneOf(names)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
