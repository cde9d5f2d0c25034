package format

import (
	"slices"
	"unicode"
)

// isULabel checks a label that is not all ASCII (RFC 5891, section 5.4): its
// code points are allowed in host names, those with a contextual rule stand
// where it allows them, and the label is in the normalization form C. The
// tables are those of idnaVersion; what Unicode assigned later is refused.
func isULabel(label []rune) bool {
	ascii := !slices.ContainsFunc(label, func(r rune) bool { return r > unicode.MaxASCII })
	if ascii || label[0] == '-' || label[len(label)-1] == '-' || unicode.Is(unicode.M, label[0]) {
		return false
	}
	if len(label) > 3 && label[2] == '-' && label[3] == '-' {
		return false
	}
	for i, r := range label {
		if !unicode.Is(idnaValid, r) && !inContext(label, i) {
			return false
		}
	}
	return isNFC(label)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// inContext applies the rules of RFC 5892, appendix A, to the code points that
// have one.
func inContext(label []rune, i int) bool {
	var before, after rune
	if i > 0 {
		before = label[i-1]
	}
	if i+1 < len(label) {
		after = label[i+1]
	}
	switch r := label[i]; {
	case r == zeroWidthNonJoiner:
		return combiningClass(before) == virama || joinsAround(label, i)
	case r == zeroWidthJoiner:
		return combiningClass(before) == virama
	case r == '·': // middle dot, as in Catalan
		return before == 'l' && after == 'l'
	case r == '\u0375': // Greek keraia
		return unicode.Is(unicode.Greek, after)
	case r == '\u05f3' || r == '\u05f4': // Hebrew geresh and gershayim
		return unicode.Is(unicode.Hebrew, before)
	case r == '\u30fb': // katakana middle dot
		return slices.ContainsFunc(label, func(r rune) bool {
			return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) && r != '\u30fb'
		})
	case isArabicDigit(r):
		return !slices.ContainsFunc(label, isExtendedArabicDigit)
	case isExtendedArabicDigit(r):
		return !slices.ContainsFunc(label, isArabicDigit)
	}
	return false
}

func isArabicDigit(r rune) bool { return '\u0660' <= r && r <= '\u0669' }

func isExtendedArabicDigit(r rune) bool { return '\u06f0' <= r && r <= '\u06f9' }

// joinsAround reports whether the letters around i would be joined: that is
// where a non-joiner has a meaning (RFC 5892, appendix A.1).
func joinsAround(label []rune, i int) bool {
	before, after := i-1, i+1
	for before >= 0 && isTransparent(label[before]) {
		before--
	}
	for after < len(label) && isTransparent(label[after]) {
		after++
	}
	return before >= 0 && after < len(label) && unicode.Is(idnaJoinNext, label[before]) && unicode.Is(idnaJoinPrevious, label[after])
}

// isTransparent reports the joining type T: a mark through which letters join.
func isTransparent(r rune) bool { return unicode.Is(unicode.Mn, r) || r == '\U0001e94b' }

func isRightToLeft(r rune) bool {
	return unicode.Is(idnaRightToLeft, r) || isArabicNumber(r)
}

// isArabicNumber reports the bidirectional class AN.
func isArabicNumber(r rune) bool { return unicode.Is(idnaArabicNumber, r) }

// isEuropeanNumber reports the bidirectional class EN.
func isEuropeanNumber(r rune) bool { return '0' <= r && r <= '9' || isExtendedArabicDigit(r) }

// isNonspacing reports the bidirectional class NSM.
func isNonspacing(r rune) bool {
	return unicode.Is(unicode.Mn, r) && !unicode.Is(idnaLeftToRightMark, r)
}

func hasRightToLeft(label []rune) bool { return slices.ContainsFunc(label, isRightToLeft) }

// bidiLabel checks a label by the Bidi rule (RFC 5893, section 2), in lower or
// upper case.
func bidiLabel(label []rune) bool {
	last := len(label) - 1
	for last > 0 && isNonspacing(label[last]) {
		last--
	}
	first := label[0]
	if !unicode.Is(idnaRightToLeft, first) { // written from left to right: rules 1, 5 and 6
		end := label[last]
		return isLeftToRight(first) && (isLeftToRight(end) || isEuropeanNumber(end)) && !hasRightToLeft(label)
	}
	// Rules 2, 3 and 4.
	for _, r := range label {
		if isLeftToRight(r) {
			return false
		}
	}
	end := label[last]
	return (isRightToLeft(end) || isEuropeanNumber(end)) &&
		!(slices.ContainsFunc(label, isEuropeanNumber) && slices.ContainsFunc(label, isArabicNumber))
}

// isLeftToRight reports the bidirectional class L.
func isLeftToRight(r rune) bool {
	return !isRightToLeft(r) && !isEuropeanNumber(r) && !isNonspacing(r) && !unicode.Is(idnaNeutral, r)
}
