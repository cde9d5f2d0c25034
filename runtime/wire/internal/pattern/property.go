package pattern

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A runeRange is the characters from low to high.
type runeRange struct{ low, high rune }

// binaries are the properties of ECMA-262 without a value that package unicode has.
var binaries = []string{
	"ASCII_Hex_Digit", "Bidi_Control", "Dash", "Deprecated", "Diacritic", "Extender", "Hex_Digit", "IDS_Binary_Operator", "IDS_Trinary_Operator",
	"Ideographic", "Join_Control", "Logical_Order_Exception", "Noncharacter_Code_Point", "Pattern_Syntax", "Pattern_White_Space", "Quotation_Mark",
	"Radical", "Regional_Indicator", "Sentence_Terminal", "Soft_Dotted", "Terminal_Punctuation", "Unified_Ideograph", "Variation_Selector", "White_Space",
}

// binary returns the characters of a property without a value, in order.
func binary(name string) ([]runeRange, bool) {
	switch name {
	case "Any":
		return []runeRange{{0, unicode.MaxRune}}, true
	case "ASCII":
		return []runeRange{{0, unicode.MaxASCII}}, true
	}
	if ranges, ok := emoji[name]; ok {
		return ranges, true
	}
	if !slices.Contains(binaries, name) {
		return nil, false
	}
	var out []runeRange
	add := func(low, high, stride rune) {
		for c := low; c <= high; c += stride {
			switch last := len(out) - 1; {
			case stride == 1:
				out = append(out, runeRange{low, high})
				return
			case last >= 0 && out[last].high == c-1:
				out[last].high = c
			default:
				out = append(out, runeRange{c, c})
			}
		}
	}
	table := unicode.Properties[name]
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return out, true
}

// classOf returns ranges, or all that is in none of them, as a class has them.
func classOf(ranges []runeRange, not bool) string {
	if not {
		var out []runeRange
		next := rune(0)
		for _, r := range ranges {
			if r.low > next {
				out = append(out, runeRange{next, r.low - 1})
			}
			next = r.high + 1
		}
		if next <= unicode.MaxRune {
			out = append(out, runeRange{next, unicode.MaxRune})
		}
		ranges = out
	}
	var b strings.Builder
	for _, r := range ranges {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, r.low, r.high)
	}
	return b.String()
}
