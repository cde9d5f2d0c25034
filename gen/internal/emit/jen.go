package emit

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// The packages that generated code imports besides the standard library.
const (
	runtimePath = "github.com/ambit-tools/ambit/runtime"
	wirePath    = "github.com/ambit-tools/ambit/runtime/wire"
	argvPath    = "github.com/ambit-tools/ambit/runtime/command/argv"
)

// newFile is a jennifer file for rendering fragments, which knows the names of
// the packages that they refer to.
func newFile() *jen.File {
	f := jen.NewFilePathName("", "fragment")
	f.ImportNames(map[string]string{runtimePath: "runtime", wirePath: "wire", argvPath: "argv", "context": "context", "time": "time"})
	return f
}

func fromWire(name string) *jen.Statement    { return jen.Qual(wirePath, goIdent(name)) }
func fromRuntime(name string) *jen.Statement { return jen.Qual(runtimePath, goIdent(name)) }
func fromArgv(name string) *jen.Statement    { return jen.Qual(argvPath, goIdent(name)) }

// id is an identifier of the generated package.
func id(name string) *jen.Statement { return jen.Id(goIdent(name)) }

// field selects a field or a method.
func field(of, name string) *jen.Statement { return id(of).Dot(goIdent(name)) }

// goIdent lets nothing but an identifier into the source. Names come checked
// from package ir; should one not be, the output does not compile, but says
// nothing that was not meant.
func goIdent(name string) string {
	if !token.IsIdentifier(name) {
		return "_"
	}
	return name
}

// address is &x.
func address(x *jen.Statement) *jen.Statement { return jen.Op("&").Add(x) }

// pointer is *T.
func pointer(x *jen.Statement) *jen.Statement { return jen.Op("*").Add(x) }

// keyed is one element of a composite literal.
func keyed(name string, value jen.Code) jen.Code { return id(name).Op(":").Add(value) }

// lines is a composite literal or a list of arguments with an element per line.
func lines(elems []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, elems...)
}

// inline is a composite literal on one line.
func inline(elems []jen.Code) *jen.Statement { return jen.Values(elems...) }

// hex is an unsigned literal without its type around it.
func hex(n uint64) *jen.Statement { return jen.Op(fmt.Sprintf("%#x", n)) }

// text is a string literal.
func text(s string) *jen.Statement { return jen.Op(quoted(s)) }

// quoted is a string literal, between back quotes where that spares escapes (SEMANTICS 7.5).
func quoted(s string) string {
	if strings.ContainsAny(s, `"\`) && strconv.CanBackquote(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// texts is []string{...}.
func texts(all []string) *jen.Statement {
	elems := make([]jen.Code, len(all))
	for i, s := range all {
		elems[i] = text(s)
	}
	return jen.Index().String().Values(elems...)
}

// doc writes a comment: paragraphs of hostile text become lines that start
// with // and hold nothing that ends one.
func doc(g *jen.Group, d ir.Doc) {
	for _, line := range docLines(d) {
		g.Comment(line)
	}
}

// docLine is one comment line of our own with names in it.
func docLine(g *jen.Group, text string) { doc(g, ir.Doc{Text: []string{text}}) }

// besideField puts a short comment on the line of a field.
func besideField(s *jen.Statement, d ir.Doc) *jen.Statement {
	for _, line := range docLines(d) {
		s.Comment(line)
	}
	return s
}

// embed writes an embedded file. The directive is no text of the user's: the
// name is made of a tool's, which has nothing but [a-z0-9_].
func embed(g *jen.Group, e *ir.Embed) {
	g.Comment("//go:embed " + clean(e.File))
	g.Add(id(e.Var)).String()
}
