package wire_test

import "github.com/ambit-tools/ambit/runtime/wire"

// everything has a member of each kind that generated code knows.
type everything struct {
	Name    string
	Colour  colour
	Ratio   float64
	Note    wire.Opt[wire.Null[string]]
	Owner   wire.Null[string]
	Tags    wire.Opt[[]string]
	Point   wire.Opt[point]
	Labels  wire.Opt[map[string]int64]
	Target  wire.Opt[target]
	Tree    wire.Opt[*tree]
	Any     wire.Opt[wire.Raw]
	Secret  wire.Opt[string]
	Vault   wire.Opt[vault]
	Retries int64
	Mode    wire.Null[string]
	Limits  limits
	Extra   map[string]wire.Raw
}

type colour string

var (
	everythingRule = wire.ObjectRule{
		Names: []string{"name", "colour", "ratio", "owner", "note", "tags", "point", "labels", "target", "tree", "any",
			"secret", "vault", "retries", "mode", "limits"},
		Required: 4,
		Defaults: []wire.Default{{Name: "retries", JSON: "3"}, {Name: "mode", JSON: "null"}, {Name: "limits", JSON: `{"low":1}`}},
		Open:     true, Has: wire.Max, Max: 20,
	}
	nameRule    = wire.StringRule{Has: wire.Min | wire.Max, Min: 1, Max: 8}
	colourRule  = wire.StringRule{Enum: []string{"red", "green"}}
	ratioRule   = wire.NumberRule{Has: wire.Min | wire.ExclusiveMax, Min: 0, Max: 1, MultipleOf: "0.01"}
	tagsRule    = wire.ArrayRule{Has: wire.Min | wire.Max, Min: 1, Max: 3, Unique: true}
	tagRule     = wire.StringRule{Pattern: mustPattern(`^[a-z]+$`)}
	labelsRule  = wire.ObjectRule{Open: true, Has: wire.Max, Max: 2}
	labelRule   = wire.IntRule{MultipleOf: 2}
	secretRule  = wire.StringRule{Has: wire.Min, Min: 8, Sensitive: true}
	retriesRule = wire.IntRule{Has: wire.Min | wire.Max, Min: 0, Max: 9}
)

func (v *everything) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "name":
		wire.ReadString(r, &v.Name, &nameRule)
	case "colour":
		wire.ReadEnum(r, &v.Colour, &colourRule)
	case "ratio":
		wire.ReadFloat(r, &v.Ratio, &ratioRule)
	case "owner":
		wire.ReadNull(r, &v.Owner, wire.ReadString, &nameRule)
	case "note":
		wire.ReadNull(r, v.Note.Put(), wire.ReadString, nil)
	case "tags":
		wire.ReadArray(r, v.Tags.Put(), &tagsRule, wire.ReadString, &tagRule)
	case "point":
		wire.ReadTuple(r, v.Point.Put(), &pointRule, 2)
	case "labels":
		wire.ReadMap(r, v.Labels.Put(), &labelsRule, wire.ReadInt, &labelRule)
	case "target":
		readTarget(r, v.Target.Put(), &targetRule)
	case "tree":
		wire.ReadPointer(r, v.Tree.Put(), wire.ReadObject, &treeRule)
	case "any":
		wire.ReadRaw(r, v.Any.Put(), nil)
	case "secret":
		wire.ReadOptString(r, &v.Secret, &secretRule)
	case "vault":
		wire.ReadObject(r, v.Vault.Put(), &vaultRule)
	case "retries":
		wire.ReadInt(r, &v.Retries, &retriesRule)
	case "mode":
		wire.ReadNull(r, &v.Mode, wire.ReadString, nil)
	case "limits":
		wire.ReadObject(r, &v.Limits, &limitsRule)
	default:
		wire.ReadExtra(r, &v.Extra, name, wire.ReadRaw, nil)
	}
}

func (v *everything) Walk(w wire.Visitor) {
	wire.BeginObject(w, &everythingRule)
	wire.Member(w, "name", &v.Name, wire.WalkString, &nameRule)
	wire.Member(w, "colour", &v.Colour, wire.WalkEnum, &colourRule)
	wire.Member(w, "ratio", &v.Ratio, wire.WalkFloat, &ratioRule)
	wire.Member(w, "owner", &v.Owner, walkNullName, &nameRule)
	wire.OptMember(w, "note", &v.Note, walkNullName, nil)
	wire.OptMember(w, "tags", &v.Tags, walkTags, &tagsRule)
	wire.OptMember(w, "point", &v.Point, wire.WalkTuple, &pointRule)
	wire.OptMember(w, "labels", &v.Labels, walkLabels, &labelsRule)
	wire.OptMember(w, "target", &v.Target, wire.WalkUnion, &targetRule)
	wire.OptMember(w, "tree", &v.Tree, walkTree, &treeRule)
	wire.OptMember(w, "any", &v.Any, wire.WalkRaw, nil)
	wire.OptMember(w, "secret", &v.Secret, wire.WalkString, &secretRule)
	wire.OptMember(w, "vault", &v.Vault, wire.WalkObject, &vaultRule)
	wire.Member(w, "retries", &v.Retries, wire.WalkInt, &retriesRule)
	wire.Member(w, "mode", &v.Mode, walkNullName, nil)
	wire.Member(w, "limits", &v.Limits, wire.WalkObject, &limitsRule)
	wire.ExtraMembers(w, v.Extra, wire.WalkRaw, nil)
	wire.End(w)
}

func walkNullName(w wire.Visitor, p *wire.Null[string], rule *wire.StringRule) {
	wire.WalkNull(w, p, wire.WalkString, rule)
}

func walkTags(w wire.Visitor, p *[]string, rule *wire.ArrayRule) {
	wire.WalkArray(w, p, rule, wire.WalkString, &tagRule)
}

func walkLabels(w wire.Visitor, p *map[string]int64, rule *wire.ObjectRule) {
	wire.WalkMap(w, p, rule, wire.WalkInt, &labelRule)
}

func walkTree(w wire.Visitor, p **tree, rule *wire.ObjectRule) {
	wire.WalkPointer(w, p, wire.WalkObject, rule)
}

type point struct {
	V0 int64
	V1 bool
}

var pointRule wire.ArrayRule

func (v *point) ReadItem(r *wire.Reader, i int) {
	switch i {
	case 0:
		wire.ReadInt(r, &v.V0, nil)
	case 1:
		wire.ReadBool(r, &v.V1, nil)
	}
}

func (v *point) Walk(w wire.Visitor) {
	wire.BeginArray(w, 2, &pointRule)
	wire.WalkInt(w, &v.V0, nil)
	wire.WalkBool(w, &v.V1, nil)
	wire.End(w)
}

type tree struct {
	Value    int64
	Children wire.Opt[[]tree]
	Next     wire.Opt[*tree]
}

var treeRule = wire.ObjectRule{Names: []string{"value", "children", "next"}, Required: 1}

func (v *tree) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "value":
		wire.ReadInt(r, &v.Value, nil)
	case "children":
		wire.ReadArray(r, v.Children.Put(), nil, wire.ReadObject, &treeRule)
	case "next":
		wire.ReadPointer(r, v.Next.Put(), wire.ReadObject, &treeRule)
	}
}

func (v *tree) Walk(w wire.Visitor) {
	wire.BeginObject(w, &treeRule)
	wire.Member(w, "value", &v.Value, wire.WalkInt, nil)
	wire.OptMember(w, "children", &v.Children, func(w wire.Visitor, p *[]tree, rule *wire.ArrayRule) {
		wire.WalkArray(w, p, rule, wire.WalkObject, &treeRule)
	}, nil)
	wire.OptMember(w, "next", &v.Next, walkTree, &treeRule)
	wire.End(w)
}

// target is email or page.
type target interface {
	wire.Value
	isTarget()
}

var targetRule = wire.UnionRule{Tag: "kind", Values: []string{"email", "page"}}

func readTarget(r *wire.Reader, p *target, rule *wire.UnionRule) {
	switch wire.ReadTag(r, rule) {
	case "email":
		v := new(emailTarget)
		wire.ReadObject(r, v, &emailTargetRule)
		*p = v
	case "page":
		v := new(pageTarget)
		wire.ReadObject(r, v, &pageTargetRule)
		*p = v
	}
}

type emailTarget struct{ Address string }

var (
	emailTargetRule    = wire.ObjectRule{Names: []string{"kind", "address"}, Required: 2}
	emailTargetKind    = wire.StringRule{Enum: []string{"email"}, Const: true}
	emailTargetAddress = wire.StringRule{Format: wire.FormatEmail}
)

func (*emailTarget) isTarget() {}

func (v *emailTarget) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "kind":
		wire.ReadFixed(r, &emailTargetKind)
	case "address":
		wire.ReadString(r, &v.Address, &emailTargetAddress)
	}
}

func (v *emailTarget) Walk(w wire.Visitor) {
	wire.BeginObject(w, &emailTargetRule)
	wire.FixedMember(w, "kind", &emailTargetKind)
	wire.Member(w, "address", &v.Address, wire.WalkString, &emailTargetAddress)
	wire.End(w)
}

type pageTarget struct{ Number int64 }

var (
	pageTargetRule = wire.ObjectRule{Names: []string{"kind", "number"}, Required: 2}
	pageTargetKind = wire.StringRule{Enum: []string{"page"}, Const: true}
)

func (*pageTarget) isTarget() {}

func (v *pageTarget) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "kind":
		wire.ReadFixed(r, &pageTargetKind)
	case "number":
		wire.ReadInt(r, &v.Number, nil)
	}
}

func (v *pageTarget) Walk(w wire.Visitor) {
	wire.BeginObject(w, &pageTargetRule)
	wire.FixedMember(w, "kind", &pageTargetKind)
	wire.Member(w, "number", &v.Number, wire.WalkInt, nil)
	wire.End(w)
}

// vault is sensitive as a whole.
type vault struct {
	Pin   int64
	Codes []string
}

var (
	vaultRule  = wire.ObjectRule{Names: []string{"pin", "codes"}, Required: 2, Sensitive: true}
	pinRule    = wire.IntRule{Has: wire.Min, Min: 1000}
	codesRule  = wire.ArrayRule{Unique: true, Has: wire.Max, Max: 2}
	secretCode = wire.StringRule{Has: wire.Min, Min: 2}
)

func (v *vault) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "pin":
		wire.ReadInt(r, &v.Pin, &pinRule)
	case "codes":
		wire.ReadArray(r, &v.Codes, &codesRule, wire.ReadString, &secretCode)
	}
}

func (v *vault) Walk(w wire.Visitor) {
	wire.BeginObject(w, &vaultRule)
	wire.Member(w, "pin", &v.Pin, wire.WalkInt, &pinRule)
	wire.Member(w, "codes", &v.Codes, func(w wire.Visitor, p *[]string, rule *wire.ArrayRule) {
		wire.WalkArray(w, p, rule, wire.WalkString, &secretCode)
	}, &codesRule)
	wire.End(w)
}

// limits has a default inside of a default.
type limits struct{ Low, High int64 }

var (
	limitsRule = wire.ObjectRule{Names: []string{"low", "high"}, Defaults: []wire.Default{{Name: "high", JSON: "10"}}}
	highRule   = wire.IntRule{Has: wire.Max, Max: 100}
)

func (v *limits) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "low":
		wire.ReadInt(r, &v.Low, nil)
	case "high":
		wire.ReadInt(r, &v.High, &highRule)
	}
}

func (v *limits) Walk(w wire.Visitor) {
	wire.BeginObject(w, &limitsRule)
	wire.Member(w, "low", &v.Low, wire.WalkInt, nil)
	wire.Member(w, "high", &v.High, wire.WalkInt, &highRule)
	wire.End(w)
}
