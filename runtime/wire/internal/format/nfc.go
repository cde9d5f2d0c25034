package format

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// virama is the canonical combining class of the signs that take a vowel away.
const virama = 9

// A combiningRange is a range of code points with a canonical combining class above 0.
type combiningRange struct {
	lo, hi rune
	class  uint8
}

// A composition lists what the normalization form C makes of base characters
// and the mark that follows them: results has the code point for each of bases.
type composition struct {
	mark           rune
	bases, results string
}

// combiningClass is the canonical combining class of a code point that host
// names allow.
func combiningClass(r rune) uint8 {
	i, found := slices.BinarySearchFunc(idnaCombining, r, func(c combiningRange, r rune) int {
		switch {
		case c.hi < r:
			return -1
		case c.lo > r:
			return 1
		}
		return 0
	})
	if !found {
		return 0
	}
	return idnaCombining[i].class
}

// isNFC reports whether a label is in the normalization form C: decomposing,
// ordering and composing it changes nothing. Its code points are allowed in host
// names, so that the tables know all that some of them decompose into. Hangul
// syllables stay whole: their parts are not allowed.
func isNFC(label []rune) bool {
	var parts []rune
	for _, r := range label {
		parts = appendDecomposed(parts, r)
	}
	for start := 0; start < len(parts); start++ {
		end := start
		for end < len(parts) && combiningClass(parts[end]) != 0 {
			end++
		}
		slices.SortStableFunc(parts[start:end], func(a, b rune) int { return int(combiningClass(a)) - int(combiningClass(b)) })
		start = end
	}
	return slices.Equal(compose(parts), label)
}

// appendDecomposed appends the canonical decomposition of r.
func appendDecomposed(to []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		return append(to, r)
	}
	for i := range idnaCompositions {
		c := &idnaCompositions[i]
		if base, ok := pairOf(c.results, c.bases, r); ok {
			return append(appendDecomposed(to, base), c.mark)
		}
	}
	return append(to, r)
}

// compose joins marks with the code points that they follow, in place.
func compose(parts []rune) []rune {
	out := parts[:0]
	base := -1       // index of the last code point of class 0
	last := uint8(0) // class of what stands before the next one
	for _, r := range parts {
		class := combiningClass(r)
		if base >= 0 && (base == len(out)-1 || last < class) {
			if joined, ok := joined(out[base], r); ok {
				out[base] = joined
				continue
			}
		}
		if class == 0 {
			base = len(out)
		}
		out, last = append(out, r), class
	}
	return out
}

// joined is what base and mark are in the form C, if they are one code point.
func joined(base, mark rune) (rune, bool) {
	i, found := slices.BinarySearchFunc(idnaCompositions, mark, func(c composition, mark rune) int { return int(c.mark - mark) })
	if !found {
		return 0, false
	}
	return pairOf(idnaCompositions[i].bases, idnaCompositions[i].results, base)
}

// pairOf returns the code point of to that stands where from has r.
func pairOf(from, to string, r rune) (rune, bool) {
	before, _, ok := strings.Cut(from, string(r))
	if !ok {
		return 0, false
	}
	for range before {
		_, n := utf8.DecodeRuneInString(to)
		to = to[n:]
	}
	other, _ := utf8.DecodeRuneInString(to)
	return other, true
}
