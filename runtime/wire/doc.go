// Package wire is the strict JSON reader and writer that generated code calls.
//
//	type Greeting struct{ Name string }
//
//	var (
//		greetingRule = wire.ObjectRule{Names: []string{"name"}, Required: 1}
//		greetingName = wire.StringRule{Has: wire.Min, Min: 1}
//	)
//
//	func (v *Greeting) ReadMember(r *wire.Reader, name string) {
//		switch name {
//		case "name":
//			wire.ReadString(r, &v.Name, &greetingName)
//		}
//	}
//
//	v, violations := wire.Decode[Greeting](raw, wire.Limits{}, &greetingRule)
//
// # Reading
//
// A text is read once, from its first byte to its last, into the Go value, and
// judged by its schema on the way. Nothing is forgiven:
//
//   - member names are matched exactly, and none may come twice;
//   - the text and every escape in it is valid Unicode, without a byte order mark;
//   - nothing follows the value;
//   - an integer is any number without a fraction, such as 1.0 and 1e2, and
//     exact over all of int64;
//   - size, nesting and the length of number literals are capped by [Limits].
//
// What is wrong does not stop the reading, unless the text is not JSON: the
// value in question is skipped and all violations are returned together, at
// most 100 of them. A [Violation] has a JSON Pointer, the keyword of JSON
// Schema that is broken and what was expected and found. Where JSON Schema has
// no keyword it is json (syntax), duplicate, size, depth, number (length of a
// literal), utf8 or violations (the list was cut off). Integers
// outside of int64 and numbers outside of float64 break minimum or maximum.
// The actual value is "(sensitive)" where a rule says so, inside of sensitive
// objects too.
//
// The rules ([StringRule], [ObjectRule] and so on) are static data. A pattern
// is compiled at the earliest when it is first used; [CompilePattern] turns
// most of those that occur in practice into plain loops over bytes.
//
// # Formats
//
// Formats are checked, not noted. date-time, date and time are those of RFC
// 3339; a leap second must stand at 23:59:60 UTC, in a date-time at the end of
// a month. duration is the grammar of RFC 3339's appendix A. uuid is RFC 9562,
// ipv4 a dotted quad without leading zeros, ipv6 RFC 4291 without a zone, uri
// RFC 3986 with a scheme, email the Mailbox of RFC 5321 in ASCII, hostname RFC
// 1123 without a final dot.
//
// # Walking and writing
//
// A [Visitor] visits a [Value] token by token. Every reader of a value is one:
// policies, digests, redaction, and [Append], which writes the value as JSON and
// checks it by the same rules. Append thereby checks a handler's output while it
// writes it. [AppendCanonical] writes the form that equal values share.
//
// # Values without a schema
//
// [Raw] is the text of such a value. It was read as strictly as everything
// else. What reads it again sees numbers outside of int64 as float64; where
// that is only near, the token has the exact number too, and [Append] writes it.
//
// [ReadVerbatim] keeps the text of a value unread, strict or not, for a caller that
// decodes it later.
package wire
