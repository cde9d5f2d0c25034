package engine_test

import "github.com/ambit-tools/ambit/runtime/wire"

// The types of this file have the shape of generated code.

type readInput struct {
	Path  string
	Limit int64
}

var (
	readInputRule  = wire.ObjectRule{Names: []string{"path", "limit"}, Required: 2}
	readInputPath  = wire.StringRule{Has: wire.Min | wire.Max, Min: 1, Max: 4096, Pattern: mustPattern(`^[a-zA-Z0-9/_.-]+$`)}
	readInputLimit = wire.IntRule{Has: wire.Min | wire.Max, Min: 1, Max: 10000}
)

func mustPattern(src string) *wire.Pattern {
	p, err := wire.CompilePattern(src)
	if err != nil {
		panic(err)
	}
	return p
}

func (v *readInput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "path":
		wire.ReadString(r, &v.Path, &readInputPath)
	case "limit":
		wire.ReadInt(r, &v.Limit, &readInputLimit)
	}
}

func (v *readInput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &readInputRule)
	wire.Member(w, "path", &v.Path, wire.WalkString, &readInputPath)
	wire.Member(w, "limit", &v.Limit, wire.WalkInt, &readInputLimit)
	wire.End(w)
}

type readOutput struct {
	Content string
	Size    int64
}

var (
	readOutputRule    = wire.ObjectRule{Names: []string{"content", "size"}, Required: 2}
	readOutputContent = wire.StringRule{}
	readOutputSize    = wire.IntRule{Has: wire.Min, Min: 0}
)

func (v *readOutput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "content":
		wire.ReadString(r, &v.Content, &readOutputContent)
	case "size":
		wire.ReadInt(r, &v.Size, &readOutputSize)
	}
}

func (v *readOutput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &readOutputRule)
	wire.Member(w, "content", &v.Content, wire.WalkString, &readOutputContent)
	wire.Member(w, "size", &v.Size, wire.WalkInt, &readOutputSize)
	wire.End(w)
}

// loginInput has a sensitive member.
type loginInput struct {
	User     string
	Password string
}

var (
	loginInputRule     = wire.ObjectRule{Names: []string{"user", "password"}, Required: 2}
	loginInputUser     = wire.StringRule{}
	loginInputPassword = wire.StringRule{Has: wire.Max, Max: 64, Sensitive: true}
)

func (v *loginInput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "user":
		wire.ReadString(r, &v.User, &loginInputUser)
	case "password":
		wire.ReadString(r, &v.Password, &loginInputPassword)
	}
}

func (v *loginInput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &loginInputRule)
	wire.Member(w, "user", &v.User, wire.WalkString, &loginInputUser)
	wire.Member(w, "password", &v.Password, wire.WalkString, &loginInputPassword)
	wire.End(w)
}
