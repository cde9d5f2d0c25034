package format

import "strings"

// isHostname checks a host name: labels of letters, digits and inner hyphens,
// 63 octets each and 253 in all (RFC 1123, section 2.1). A label that begins
// with "xn--" must be an A-label of RFC 5890: the encoding of a valid U-label.
// When one of these is written from right to left, all labels must keep to the
// Bidi rule (RFC 5893).
func isHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	var labels [][]rune // as people read them; nil while no label is an A-label
	for label := range strings.SplitSeq(s, ".") {
		if !isLDH(label) {
			return false
		}
		if encoded, ok := cutPrefixFold(label, "xn--"); ok {
			unicode, ok := decodeALabel(strings.ToLower(encoded))
			if !ok {
				return false
			}
			labels = append(labels, unicode)
		}
	}
	return labels == nil || keepsBidi(s, labels)
}

// isLDH checks the form that all labels have: letters, digits and hyphens, no
// hyphen first or last.
func isLDH(label string) bool {
	if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		if !isAlnum(label[i]) && label[i] != '-' {
			return false
		}
	}
	return true
}

// decodeALabel returns the U-label of what follows "xn--" in an A-label, in
// lower case. It must be valid, and its encoding must be the one given.
func decodeALabel(encoded string) ([]rune, bool) {
	label, ok := decodePunycode(encoded)
	if !ok || encodePunycode(label) != encoded || !isULabel(label) {
		return nil, false
	}
	return label, true
}

// keepsBidi checks the Bidi rule of a name with these U-labels among its labels.
// Labels in ASCII can break it only beside a label written from right to left.
func keepsBidi(name string, decoded [][]rune) bool {
	rightToLeft := false
	for _, label := range decoded {
		rightToLeft = rightToLeft || hasRightToLeft(label)
	}
	if !rightToLeft {
		return true
	}
	for label := range strings.SplitSeq(name, ".") {
		if _, encoded := cutPrefixFold(label, "xn--"); !encoded && !bidiLabel([]rune(label)) {
			return false
		}
	}
	for _, label := range decoded {
		if !bidiLabel(label) {
			return false
		}
	}
	return true
}
