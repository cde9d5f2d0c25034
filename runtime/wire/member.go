package wire

// The functions of this file are those of generated code for its most frequent
// members. They are not generic, or generic over what all packages share, so
// that the compiler sees them once: Member and OptMember, for everything else,
// cost it an instance per type.
//
// What generated code calls is not inlined into it, here and in read.go,
// readmany.go and walk.go: a thousand tools have tens of thousands of calls, and
// inlining them costs the compiler half as much again and saves no time that
// can be measured.

// ReadStruct reads an object into the struct that m points to.
//
//go:noinline
func ReadStruct(r *Reader, m Members, rule *ObjectRule) { r.object(m, rule) }

// ReadOptString reads a string that may be absent.
//
//go:noinline
func ReadOptString(r *Reader, p *Opt[string], rule *StringRule) { ReadString(r, p.Put(), rule) }

// ReadOptInt reads an integer that may be absent.
//
//go:noinline
func ReadOptInt(r *Reader, p *Opt[int64], rule *IntRule) { ReadInt(r, p.Put(), rule) }

// ReadOptFloat reads a number that may be absent.
//
//go:noinline
func ReadOptFloat(r *Reader, p *Opt[float64], rule *NumberRule) { ReadFloat(r, p.Put(), rule) }

// ReadOptBool reads a boolean that may be absent.
//
//go:noinline
func ReadOptBool(r *Reader, p *Opt[bool], rule *BoolRule) { ReadBool(r, p.Put(), rule) }

// ObjectMember visits a member that is a struct, when it is present.
//
//go:noinline
func ObjectMember(w Visitor, name string, present bool, v Value, rule *ObjectRule) {
	if present {
		Member(w, name, v, WalkObject, rule)
	}
}

// StringMember visits a string that is always present.
//
//go:noinline
func StringMember(w Visitor, name string, p *string, rule *StringRule) {
	Member(w, name, p, WalkString, rule)
}

// IntMember visits an integer that is always present.
//
//go:noinline
func IntMember(w Visitor, name string, p *int64, rule *IntRule) { Member(w, name, p, WalkInt, rule) }

// FloatMember visits a number that is always present.
//
//go:noinline
func FloatMember(w Visitor, name string, p *float64, rule *NumberRule) {
	Member(w, name, p, WalkFloat, rule)
}

// BoolMember visits a boolean that is always present.
//
//go:noinline
func BoolMember(w Visitor, name string, p *bool, rule *BoolRule) { Member(w, name, p, WalkBool, rule) }

// OptStringMember visits a string when it is present.
//
//go:noinline
func OptStringMember(w Visitor, name string, p *Opt[string], rule *StringRule) {
	OptMember(w, name, p, WalkString, rule)
}

// OptIntMember visits an integer when it is present.
//
//go:noinline
func OptIntMember(w Visitor, name string, p *Opt[int64], rule *IntRule) {
	OptMember(w, name, p, WalkInt, rule)
}

// OptFloatMember visits a number when it is present.
//
//go:noinline
func OptFloatMember(w Visitor, name string, p *Opt[float64], rule *NumberRule) {
	OptMember(w, name, p, WalkFloat, rule)
}

// OptBoolMember visits a boolean when it is present.
//
//go:noinline
func OptBoolMember(w Visitor, name string, p *Opt[bool], rule *BoolRule) {
	OptMember(w, name, p, WalkBool, rule)
}
